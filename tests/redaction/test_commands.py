"""Passwords among the arguments of commands, in a text and as a list, and what stands there beside them."""

import shlex

import pytest

from agenttrace import Redaction
from agenttrace.core.marks import REDACTED

SECRET = "Vg7Kq8Zw2Tm"
COMMANDS = [
    "htpasswd -b -c /etc/nginx/.htpasswd bob {}",
    "htpasswd -c -b /etc/nginx/.htpasswd bob {}",
    "htpasswd -bc /etc/nginx/.htpasswd bob {}",
    "htpasswd -B -C 10 -b users bob {}",
    "htpasswd -b -B -C 12 -c users bob {}",
    "htpasswd -n -b bob {}",
    "htpasswd -b -n bob {}",
    "htpasswd -nbBC 10 bob {}",
    "docker run --rm httpd htpasswd -nbB bob {}",
    "mosquitto_passwd -b /etc/mosquitto/pw bob {}",
    "mosquitto_passwd -c -b /etc/mosquitto/pw bob {}",
    "expdp hr/{} schemas=hr",
    "impdp hr/{} directory=dpump",
    "sqlldr userid=hr/{} control=x.ctl",
    "sqlldr control=x.ctl userid=hr/{}",
    "rman target sys/{}",
    "az sql server create -l westus -n srv -u admin -p {}",
    "az postgres flexible-server create --admin-user ann -p {}",
    "openssl passwd -6 {}",
    "openssl passwd -1 {}",
    "openssl passwd -apr1 -salt xy {}",
    "ldappasswd -x -D cn=admin -s {} uid=bob",
    "smbmap -u bob -p {} -H 10.0.0.1",
    "netexec smb 10.0.0.1 -u bob -p {}",
    "ncftpput -u bob -p {} host",
    "drush user:password admin {}",
    "rootpw --plaintext {}",
    "curl --cert client.pem:{} https://example.org",
    "curl -E /etc/ssl/my_client_1.pem:{} https://example.org",
    "keytool -importkeystore -srckeystore a.jks -srcstorepass {} -destkeystore b.p12",
    "keytool -importkeystore -srckeystore a.jks -deststorepass {}",
]
AS_TEXT = [
    "keytool -storepasswd -new {} -keystore a.jks",
    "curl -u Vg7Kq8{}: https://example.org/v1",
    "curl https://example.org/v1 -su Vg7Kq8{}:",
    'curl -u "Vg7Kq8{}:" https://example.org/v1',
    "curl --user=Vg7Kq8{}: https://example.org/v1",
    "subprocess.run(['curl', '-u', 'Vg7Kq8{}:', 'https://example.org'])",
    "htpasswd -b users 'bob' '{}'",
    "subprocess.run(['htpasswd', '-b', '-c', 'users', 'bob', '{}'])",
    "echo '{}' | passwd --stdin bob",
    "echo {} | sudo passwd bob --stdin",
    r"RUN echo -e '{}\n{}' | passwd root",
    "echo {} | openssl passwd -6 -stdin",
    "drush user:password admin '{}'",
    "wrangler secret put API_KEY <<< '{}'",
    "npx wrangler secret put API_KEY <<< {}",
    "sudo -S <<< '{}' apt-get update",
    'sudo -k -S apt-get update <<< "{}"',
    "docker login -u ann --password-stdin <<< '{}'",
    "chpasswd <<< 'ann:{}'",
    "gh secret set API_KEY <<<{}",
    "ACL SETUSER app on >{} ~* +@all",
    "redis-cli ACL SETUSER app on '>{}' allkeys",
    "a1 LOGIN bob@example.org {}",
    'C: a001 LOGIN "bob" "{}"\r\nS: a001 OK',
    "lpass >> drush user:password admin {}",
]
OTHERS = [
    "curl -u ann: https://example.org/v1",
    "curl -u service-account-of-ann: https://example.org/v1",
    "curl -u build-agent-2024 https://example.org/v1",
    "curl --cert client2.pem https://example.org",
    "curl --cert C:/certs/client2.pem https://example.org",
    "curl --cert-type P12 --cert https://example.org/a1",
    "keytool -list -v -keystore a1.jks -alias new2",
    "htpasswd -c /etc/nginx/.htpasswd bob",
    "htpasswd -D /etc/nginx/.htpasswd bob2",
    "htpasswd -B -C 12 -c users1 bob && cat users1",
    "htpasswd -n bob prints line 2 of it",
    "mosquitto_passwd -c /etc/mosquitto/pw2 bob",
    "cat /etc/passwd | grep bob1",
    "echo done1 | grep passwd",
    'echo "$PW" | passwd --stdin bob',
    "use expdp and/or impdp of 19c",
    "expdp parfile=/u01/app2/Exp.par",
    "expdp hr directory=dpump1 dumpfile=Hr2.dmp",
    "sqlldr reads data/File2.csv",
    "rman target /",
    "az sql db list -g rg1 -s srv1",
    "az functionapp create -u https://example.org/a1 -p plan2",
    "openssl passwd -6 to make a hash",
    "openssl passwd -6 -stdin",
    "openssl passwd -6\nPassword:",
    "ldapsearch -s sub -b dc=x1",
    "smbmap -u users1.txt -p passwords2.txt",
    "ncftpls ftp://host1/dir2",
    "drush user:password --help",
    "rootpw --lock",
    "ACL SETUSER app on nopass >/tmp/out1",
    "ACL SETUSER app on nopass > out2.txt",
    "redis-cli ACL SETUSER app on nopass >out2.txt",
    "wrangler secret put API_KEY <<< $API_KEY1",
    'sudo -S apt-get update <<< "$PW1"',
    "sudo tee /etc/a1 <<< 'line2'",
    "grep a1 <<< 'b2c3d4'",
    "IMG1 LOGIN page v2 of the app",
    "form a1 LOGIN screen",
]


@pytest.mark.parametrize("form", [*COMMANDS, *AS_TEXT])
def test_the_password_of_a_command_is_hidden_and_the_rest_stays(form):
    text = form.replace("{}", SECRET)
    cleaned = Redaction().text("x", text)
    assert SECRET not in cleaned
    form = form.replace("Vg7Kq8{}", "{}")
    assert cleaned == form.replace(r"{}\n{}", "{}").replace("{}", REDACTED)
    assert not Redaction().holds_nothing([text])
    assert not Redaction().holds_nothing(["of Paris", text, "a = b"])


@pytest.mark.parametrize("form", COMMANDS)
def test_it_is_hidden_in_a_list_of_arguments(form):
    arguments = shlex.split(form.replace("{}", SECRET))
    cleaned = Redaction().inside(arguments)
    assert SECRET not in str(cleaned)
    assert sum(before != after for before, after in zip(arguments, cleaned, strict=True)) == 1


@pytest.mark.parametrize("text", OTHERS)
def test_other_arguments_stay(text):
    assert Redaction().text("x", text) == text
    assert Redaction().inside(text.split(" ")) == text.split(" ")

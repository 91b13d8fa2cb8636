"""What agents of shops, chains, boards and linguists have under the names of secrets; and secrets there."""

import pytest

from agenttrace import Redaction

WORD = "x7Kd92mNqPz4"
HARMLESS = [
    {"from_token": "ETH", "to_token": "USDC", "amount": 1.5},
    {"buyToken": "WBTC", "gas_token": "MATIC"},
    {"token": "USDC"},
    {"token": {"symbol": "USDC", "decimals": 6}},
    {"token": {"type": "NAME", "string": "foo2", "start": [1, 0]}},
    [
        {"token": "don't", "lemma": "do"},
        {"token": "2nd", "pos": "ADJ"},
        {"token": "COVID19", "ner": "DISEASE"},
    ],
    {"salt": "MgCl2"},
    {"salt": "K2SO4"},
    {"salt": "Ca(OH)2"},
    {"auth": "WPA2", "ssid": "Home"},
    {"auth": "WPA2-Enterprise"},
    {"auth": "TLSv1.3"},
    {"auth": "HS256"},
    {"auth": "Ed25519"},
    {"pin": "GPIO_NUM_4"},
    {"pin": "U1.4"},
    {"pin": "52.52,13.40"},
    {"card": "hw:0,0"},
    {"high_pass": "80Hz"},
    "Use code 482913 for 10% off",
    "Enter code 482913 at checkout",
    {"cookies": {"chocolate": 2, "oat": 4}},
    {"license_key": "apache-2.0"},
    {"license_key": "MIT"},
    {"seed": "-4172144997902289642"},
    {"sid": "SM" + "a1b2c3d4" * 4, "status": "queued"},
    {"CallSid": "CA12345"},
    {"authorization": {"id": "x", "state": "created", "amount": 12}},
    {"api_keys": [{"name": "prod", "created": "2025-01-01"}]},
    [
        {"role": "assistant", "content": "To reset your password I need your order number."},
        {"role": "user", "content": "A1234567"},
    ],
    [
        {"role": "assistant", "content": "To reset your PIN I need your customer number."},
        {"role": "user", "content": "48213"},
    ],
]
SECRETS = [
    {"token": {"type": "bearer", "value": WORD}},
    {"token": "USDCx7Kd92mN"},
    {"token": "x7Kd92mNqPz4", "label": "main"},
    {"salt": WORD},
    {"auth": WORD},
    {"pin": "4829"},
    {"cookies": {"session": WORD}},
    {"license_key": "AAAA-BBBB-CCCC-1234"},
    {"dbpwd": WORD},
    {"wallet_key": "5Kb8kLf9zgWQnogidDA76MzPL6TsZZY36hWXMssSzNydYXYB9KF"},
    {"activation_key": WORD},
    {"snmp_community": WORD},
    {"alarm_code": "4829"},
    {"ccnum": "4111111111111111"},
    f"echo '{WORD}' | gh secret set DB_PASS",
    f"echo -n {WORD} | gcloud secrets create db-pass --data-file=-",
    f"echo {WORD} | wrangler secret put DB_PASS",
    f"twilio login AC0123456789abcdef0123456789abcdef {WORD}",
    f'WiFi.begin("HomeNet", "{WORD}")',
    "Use code 482913 to verify your account",
    {"sid": "a8f5f167f44f4964e6c998dee827110c"},
    {"authorization": {"user": "ann", "pw": WORD}},
    {"api_keys": [{"name": "prod", "created": "2025-01-01", "value": WORD}]},
    {"api_keys": [{"value": "swordfish"}]},
    [
        {"role": "assistant", "content": "To reset your password, enter your new password."},
        {"role": "user", "content": WORD},
    ],
    [
        {"role": "assistant", "content": "To change your password please type the current password"},
        {"role": "user", "content": WORD},
    ],
    f"credentials ann:{WORD}",
    f"Here's the key you asked for - {WORD}",
]


@pytest.mark.parametrize("value", HARMLESS, ids=str)
def test_it_is_left_alone(value):
    assert Redaction().inside(value) == value


@pytest.mark.parametrize("value", SECRETS, ids=str)
def test_a_secret_there_is_hidden(value):
    redacted = Redaction().inside(value)
    assert redacted != value
    assert WORD not in str(redacted)

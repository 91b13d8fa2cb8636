"""The table of names whose values are secrets, and what it says of a name."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, NamedTuple

Place = Literal["whole", "ending", "last word", "after", "any word"]
"""Where a name has one of a row's words: it is the name; the name ends so, even within a word; it is the last
word; the last word, after one of `before`; any word of several."""

Weight = Literal["always", "numbers too", "if opaque", "if long", "if random", "four digits"]
"""Which values such a name hides. *always*: texts, mappings, lists, numbers from `SMALLEST_NUMBER` on.
*numbers too*: all numbers as well. *if opaque*: texts that are no word and no sentence. *if long*:
these, of eight letters or more. *if random*: these, of sixteen or more, which are no words.
*four digits*: these, and numbers of four digits or more."""


class NameRule(NamedTuple):
    """One row: which names are meant, where that is known from, where they stand, which values they hide."""

    what: str
    source: str
    place: Place
    words: tuple[str, ...]
    weight: Weight = "always"
    before: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    """Words before the last one with which it is none; an empty one: the last word alone is none."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NAMES: tuple[NameRule, ...] = (
    NameRule(
        "passwords",
        "sentry, logfire, detect-secrets, Django, Rollbar",
        "ending",
        _words("password passwords passwd passphrase passcode passwort kennwort sshpass"),
        "numbers too",
    ),
    NameRule(
        "passwords",
        "Rails, libpq, sentry",
        "last word",
        _words("pwd passw pw pswd psw pword passwrd pwhash pwdhash passhash"),
        "numbers too",
    ),
    NameRule(
        "passwords and their like, short",
        "Rails, detect-secrets",
        "last word",
        _words(
            "pass pat salt pgpass keypass storepass ldappass smtppass userpass dbpass rootpw dbpw "
            "requirepass masterauth mdp bindpw dbpwd rootpwd adminpwd userpw userpwd rootpass apipass apppass"
        ),
        "if opaque",
        unless=_words("boarding ski bus rail travel guest visitor high low band day season"),
    ),
    NameRule("seeds", "BIP 39", "last word", _words("seed mnemonic"), "if opaque"),
    NameRule("PINs", "Rails", "last word", _words("pin pins puk"), "four digits"),
    NameRule(
        "passwords in other languages",
        "dictionaries",
        "any word",
        _words(
            "motdepasse contraseña contrasena contraseñas clave senha senhas parola wachtwoord hasło haslo "
            "lösenord losenord adgangskode adgangskoden salasana geheimnis heslo jelszó jelszo şifre sifre "
            "lozinka zaporka geslo passord parool matkhau katasandi пароль пароли парола ключ 密码 密碼 口令 "
            "密钥 パスワード 暗証番号 비밀번호 암호 पासवर्ड كلمةالمرور كلمةالسر jeton cléapi cleapi chaveapi claveapi"
        ),
        "numbers too",
    ),
    NameRule(
        "keys, tokens and secrets in one word",
        "sentry, detect-secrets, gitleaks",
        "ending",
        _words(
            "apikey apikeys apitoken apitokens accesstoken accesstokens authtoken authtokens "
            "bearertoken bearertokens refreshtoken refreshtokens sessiontoken sessiontokens securitytoken "
            "securitytokens idtoken csrftoken xsrftoken privatekey privatekeys secretkey secretkeys signingkey "
            "signingkeys connectionstring connectionstrings connstr connectionuri secret secrets credential "
            "credentials authorization oauthtoken webhooksecret encryptionkey masterkey samlresponse samlassertion stringdata"
        ),
    ),
    NameRule(
        "access keys, which in HTML are a letter",
        "AWS, sentry",
        "ending",
        _words("accesskey accesskeys"),
        "if opaque",
    ),
    NameRule(
        "what proves who asks",
        "sentry, Spring Boot, Rollbar, Express, Tornado",
        "last word",
        _words(
            "auth cookie cookies creds cred csrf xsrf csrftoken xsrftoken jwt jwts dsn bearer assertion passkey "
            "apikey authheader keytab kubeconfig netrc htpasswd sas psk"
        ),
    ),
    NameRule(
        "one-time and recovery codes",
        "Rails, RFC 6238",
        "last word",
        _words("otp totp hotp cvv cvc cvn csc ssn nino"),
        "numbers too",
    ),
    NameRule(
        "codes that prove who asks",
        "RFC 6749, RFC 7636, Rails",
        "after",
        _words("code codes password verifier number"),
        "numbers too",
        before=_words(
            "authorization auth mfa recovery backup pin security unlock verification otp totp 2fa fa factor login sms access pass "
            "activation door alarm lockbox gate passcode oauth code onetime card creditcard debitcard ssn passport licence license account "
            "routing insurance"
        ),
        unless=_words("error status country"),
    ),
    NameRule("codes of devices", "RFC 8628", "ending", _words("devicecode"), "if opaque"),
    NameRule("ids that are secrets", "Vault", "ending", _words("secretid"), "if opaque"),
    NameRule(
        "tokens",
        "sentry, Spring Boot",
        "last word",
        _words("token tkn"),
        unless=_words(
            "bos cls end eos eot image mask pad sep special start stop unk each first last max min new per total "
            "continuation cursor next page prev previous prompt completion input output reasoning cached sync "
            "resume sub text audio video vision delimiter separator next_page"
        ),
    ),
    NameRule(
        "tokens, several",
        "gitleaks",
        "after",
        _words("tokens"),
        before=_words(
            "access auth api refresh bearer id oauth session security push device user bot personal"
        ),
    ),
    NameRule(
        "keys of a kind",
        "detect-secrets, gitleaks, Django",
        "after",
        _words("key keys"),
        before=_words(
            "api secret private priv signing sign signature encryption decryption encrypt decrypt enc dec crypt crypto cipher account subscription ssh "
            "pgp gpg master deploy license licence hmac aes rsa ecdsa ed25519 des storage shared auth access "
            "session functions function host ca tls ssl server app application service admin root db database fernet "
            "jwt cookie webhook integration ingest live test prod production sandbox restricted "
            "client consumer bot sas age dkim wireguard wg psk preshared vault kms  push wallet activation tacacs radius "
            "fcm apns vapid recovery backup unlock unseal role security developer dev partner merchant publishable wifi wlan wpa wep"
            " openai anthropic claude azure gemini google gcp palm vertex bedrock aws mistral cohere groq xai grok "
            "deepseek perplexity together fireworks replicate openrouter huggingface hf nvidia voyage jina tavily "
            "serper serpapi exa brave firecrawl pinecone weaviate qdrant chroma milvus langfuse langsmith langchain "
            "langgraph wandb comet mlflow arize phoenix helicone braintrust judgment galileo stripe paypal square "
            "adyen plaid twilio sendgrid mailgun mailchimp postmark resend brevo slack discord telegram github gitlab "
            "bitbucket npm pypi docker sentry datadog dd newrelic grafana honeycomb logfire rollbar bugsnag "
            "cloudflare fastly vercel netlify heroku fly railway supabase firebase algolia elastic mongodb "
            "mongo redis rediscloud snowflake databricks airtable notion hubspot salesforce shopify "
            "zendesk intercom amplitude mixpanel posthog mapbox googlemaps openweather alphavantage "
            "polygon finnhub binance coinbase kraken twitter facebook instagram linkedin tiktok youtube spotify steam "
            "elevenlabs deepgram assemblyai stability replicate rapidapi cosmos cosmosdb documentdb eventhub eventgrid "
            "servicebus iothub mandrill sparkpost razorpay paystack clerk workos okta pagerduty opsgenie stytch"
        ),
        unless=_words("public"),
    ),
    NameRule(
        "secret keys by their letters",
        "Stripe, Clerk, Paystack",
        "after",
        _words("sk"),
        "if random",
        before=_words(
            "stripe clerk paystack razorpay flutterwave paypal square adyen braintree openai anthropic"
        ),
    ),
    NameRule(
        "what says who is logged in, in a proxy's headers",
        "AWS",
        "after",
        _words("data"),
        "if long",
        before=_words("oidc"),
    ),
    NameRule(
        "macaroons",
        "lnd",
        "after",
        _words("macaroon"),
        "if long",
        before=_words("metadata admin invoice readonly lnd auth root"),
    ),
    NameRule(
        "tokens by the name of a login",
        "SonarQube",
        "after",
        _words("login"),
        "if random",
        before=_words("sonar dsonar"),
    ),
    NameRule(
        "keys of which there are two, of a database also",
        "Azure",
        "after",
        _words("key"),
        "if random",
        before=_words("primary secondary"),
    ),
    NameRule(
        "sessions",
        "sentry, logfire",
        "last word",
        _words("session sessions sid"),
        "if opaque",
    ),
    NameRule(
        "sessions by their cookie's name",
        "sentry, PHP, Java, ASP",
        "whole",
        _words("sessionid phpsessid jsessionid aspsessionid sessid"),
    ),
    NameRule(
        "signatures of requests",
        "Django, GitHub",
        "last word",
        _words("signature signatures sig"),
        "if opaque",
        unless=("", "thought", "thinking", "reasoning", "function", "method", "type"),
    ),
    NameRule(
        "secrets by another word",
        "BIP 39, PKI, OAuth",
        "after",
        _words("phrase pem string header webhook answer link community"),
        before=_words(
            "seed recovery mnemonic private snmp community conn connection auth authorization secret security magic"
        ),
    ),
    NameRule(
        "keys of OpenWeather, by their parameter",
        "OpenWeather",
        "whole",
        _words("appid"),
        "if opaque",
    ),
    NameRule(
        "numbers of people, cards and accounts",
        "logfire, PCI DSS",
        "ending",
        _words(
            "creditcard creditcards creditcardnumber cardnumber ccnumber ccnum debitcard socialsecurity "
            "socialsecuritynumber passportnumber passportno driverslicense driverslicence driverlicense "
            "bankaccountnumber accountnumber routingnumber iban sortcode taxid nationalid cardpan"
        ),
        "numbers too",
    ),
    NameRule(
        "numbers of people and cards, short",
        "PCI DSS",
        "last word",
        _words("passport card pan bban"),
        "if opaque",
    ),
)
"""The rows. A name that ends in one of `TAILS` is read without it: ``password_hash``."""

TAILS = frozenset(
    _words(
        "value values material hash hashed confirmation confirm again repeat raw plain plaintext cleartext encrypted enc base "
        "b64 header string str text json v base64 fallback fallbacks attempt env var digest encoded new old "
        "current previous backup prod dev staging test live input field bytes hex pem primary secondary default"
    )
)
"""Last words that say in which form, or which one of several: the name before them counts."""

SMALLEST_NUMBER = 10**8
"""Smaller numbers are counts, where a name does not hide all."""

_IGNORED = str.maketrans("", "", "_-. ")
_WORDS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|(?<!\d)\d+[a-z]+(?![a-z])")
"""It begins where digits begin alone: a key of a thousand digits would be gone through from each of them."""
_OF_TUPLE = re.compile(r"tuple \[.*['\"](.+)['\"]\]", re.DOTALL)


def plain(name: str) -> str:
    """A name in the form in which names are compared."""
    return as_seen(name).lower().translate(_IGNORED)


def own_name(name: str) -> str:
    """A name; of a tuple as a key, ``("db", "password")``, its last part, if that is a text."""
    part = _OF_TUPLE.fullmatch(name) if name[-1:] == "]" else None
    return name if part is None else part[1]


def as_seen(name: str) -> str:
    """A name without characters that nobody sees, and with full-width and other variants of letters as such."""
    if name.isascii():
        return name
    shown = "".join(sign for sign in name if unicodedata.category(sign) != "Cf")
    return unicodedata.normalize("NFKC", shown)


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case: of ``openaiApiKey2`` openai, api, key."""
    return [word.lower() for word in _WORDS.findall(name)]


NAME_SIGNS = (
    *(
        "pass",
        "pwd",
        "pw",
        "psw",
        "secret",
        "token",
        "key",
        "auth",
        "cred",
        "cookie",
        "sess",
        "sid",
        "jwt",
        "csrf",
    ),
    *(
        "xsrf",
        "bearer",
        "conn",
        "dsn",
        "otp",
        "cvv",
        "cvc",
        "ssn",
        "iban",
        "card",
        "code",
        "sig",
        "salt",
        "pin",
    ),
    "_sk",
    *("kennwort", "senha", "contrase", "parola", "wachtwoord", "mdp", "seed", "mnemonic", "\\u", "curl "),
)
"""What most names cannot be without that are looked for inside texts, in lower case; and two that say that one
may be spelled in another way."""
OTHER_SIGNS = tuple(
    word
    for rule in NAMES
    if rule.place != "after"
    for word in rule.words
    if not any(sign in word for sign in NAME_SIGNS)
)
"""The words of the rows that have none of these, such as *seed* and *пароль*."""
OF_OTHER_ALPHABETS = tuple(word for rule in NAMES for word in rule.words if not word.isascii())

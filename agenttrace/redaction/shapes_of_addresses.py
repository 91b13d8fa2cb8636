"""The rows of the table of shapes that are addresses: whoever has one may do what it is for."""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.shape import HEX_ID, STAND_IN, Shape

ADDRESSES: tuple[Shape, ...] = (
    Shape(
        "webhook addresses of Slack, Teams, Discord",
        "Slack, Discord, gitleaks",
        ("hooks.slack.com/", "webhook.office.com/", "outlook.office", "/api/webhooks/"),
        re.compile(
            r"((?:hooks\.slack\.com|(?<![\w-])[\w-]{1,63}\.webhook\.office\.com"
            r"|outlook\.office(?:365)?\.com/webhook|discord(?:app)?\.com/api/webhooks)/)"
            r"(?!\[redac)[\w+/@.-]{20,}"
        ),
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "cookies of a file",
        "Netscape, curl",
        ("\ttrue\t", "\tfalse\t"),
        re.compile(
            r"((?:^|\n)(?:#HttpOnly_)?[\w.-]{1,253}\t(?:TRUE|FALSE)\t/[^\t\n]{0,200}\t(?:TRUE|FALSE)\t\d{1,12}\t[^\t\n]{1,100}\t)"
            r"(?!\[redac)[^\s]{12,}"
        ),
        0,
        random=True,
        replacement=rf"\1{REDACTED}",
        needs="\t",
    ),
    Shape(
        "password of a wireless network",
        "ZXing",
        ("wifi:",),
        re.compile(
            r"(WIFI:(?:[STHRAEI]:(?:[^;\\\n]|\\.){0,64};){0,6}P:\"?)(?!\[redac)(?:[^;\\\n\"]|\\.){4,63}(?=\"?;)"
        ),
        0,
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "private calendar",
        "Google",
        ("/private-",),
        re.compile(r"(/calendar/ical/[^\s/]{1,120}/private-)(?!\[redac)[0-9a-f]{32}"),
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "webhook addresses of Zapier, Make, IFTTT, Airtable, WeCom, Feishu",
        "Zapier, Make, IFTTT, Airtable, WeCom, Feishu",
        ("hook", "ifttt.com/", "mcp.zapier."),
        re.compile(
            r"(?i)((?:hooks\.zapier\.com/hooks/catch/\d{1,12}/|hook\.(?:eu|us)\d\.make\.com/"
            r"|maker\.ifttt\.com/trigger/[\w-]{1,60}(?:/json)?/with/key/|mcp\.zapier\.com/api/mcp/[a-z]{1,3}/"
            r"|/cgi-bin/webhook/send\?key=|(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/"
            r"|airtable\.com/workflows/v1/genericWebhook/app\w{10,20}/wfl\w{10,20}/))(?!\[redac)[\w-]{5,}"
        ),
        0,
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "addresses of nodes of a chain with their key",
        "Infura, Alchemy, QuickNode",
        (".infura.io/", ".g.alchemy.com/", ".quiknode.pro/", "rpc.ankr.com/"),
        re.compile(
            r"((?:\.infura\.io/(?:ws/)?v3|\.g\.alchemy\.com/v2|\.quiknode\.pro|rpc\.ankr\.com/[\w-]{2,30})/)"
            r"(?!\[redac)[\w-]{20,}"
        ),
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "keys in an address",
        "Trello, WeatherAPI, TomTom",
        ("?key=", "&key="),
        re.compile(
            rf"(?i)([?&]key=)(?!{HEX_ID})(?=[a-z._-]*\d)(?:[a-z]{{1,4}}\.)?[\w-]{{20,}}(?=[&#\s\"'<>)}}\],;]|\Z)"
        ),
        random=True,
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "addresses that log in, or reset a password",
        "OWASP",
        ("reset", "/passwords/", "/magic", "/verify-email/", "/confirm-email/", "/invit", "/activate/"),
        re.compile(
            r"(?i)(/(?:(?:reset|forgot|change)[_-]?(?:password|pass|pw)|(?:password|pass|pw|account)[_-]?(?:resets?|recovery)"
            r"|passwords?/reset|passwords|(?:accounts?/)?reset(?:/key|/[A-Z]\w{1,10})?|magic(?:[_-]?link)?"
            r"|(?:verify|confirm)-email|invit(?:e|ations?)|activate)/)"
            r"(?!\[redac)(?=[a-z_-]*\d)[\w.-]{20,}"
        ),
        random=True,
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "signed addresses",
        "AWS, Azure, Google",
        ("signature=", "sig=", "x-amz-security-token=", "?hmac=", "&hmac="),
        re.compile(
            r"(?i)([?&](?:x-amz-signature|x-amz-security-token|x-goog-signature|sig|signature|hmac)=)(?!\[redac)"
            r"(?=[a-z%+/=.~-]{0,60}\d)[\w%+/=.~-]{16,}"
        ),
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "codes of OAuth in an address",
        "RFC 6749",
        ("?code=", "&code="),
        re.compile(
            r"(?i)((?:callback|/cb|oauth2?|auth|redirect|sign-?in|login)[^\s?#\"']{0,60}\?(?:[^\s#\"']{0,300}&)?code="
            r"|[?&]code=(?=[\w%+/=.~-]{20,2000}&(?:state|scope|session_state|iss)=))"
            r"(?!\[redac)(?=[\w%+/=.~-]{0,60}\d)[\w%+/=.~-]{20,}"
        ),
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "keys of functions in an address",
        "Azure",
        ("?code=", "&code="),
        re.compile(
            rf"([?&]code=)(?!{HEX_ID})(?=[\w%+/=.~-]{{0,60}}\d)(?=[\w%+/=.~-]{{0,60}}[a-z])(?=[\w%+/=.~-]{{0,60}}[A-Z])"
            r"[\w%+/=.~-]{40,120}(?![\w%+/=.~-])"
        ),
        random=True,
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "password of an address of Go's driver for MySQL",
        "go-sql-driver",
        ("@tcp(", "@tcp6(", "@udp(", "@unix(", "@cloudsql("),
        re.compile(
            rf"""(?<![\w.+-])([\w.+-]{{1,64}}:)(?!\[redacted\]@|{STAND_IN}@)[^\s"'`<>]{{1,200}}?"""
            r"""@(?=(?:tcp6?|udp|unix|cloudsql)\()"""
        ),
        0,
        replacement=rf"\1{REDACTED}@",
        needs="@",
    ),
    Shape(
        "password before an address of Oracle",
        "Oracle",
        ("@//",),
        re.compile(
            rf"""(?<![\w./@-])([A-Za-z][\w$#]{{0,60}}/)(?!\[redacted\]@|{STAND_IN}@)(?=[^\s/@]{{0,128}}[\dA-Z])"""
            r"""[^\s/@"'`<>]{4,128}@(?=//[\w.-]{1,253}(?::\d{1,5})?/)"""
        ),
        0,
        replacement=rf"\1{REDACTED}@",
        needs="@",
    ),
)

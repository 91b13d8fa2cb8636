"""The table of shapes of secrets: what a value looks like that gives access, by whose documentation."""

from __future__ import annotations

import re
from typing import NamedTuple

from agenttrace.core.marks import REDACTED

VERSION = 9
"""Of the tables of names and shapes: one more whenever a row is added or changed."""

SHORTEST_SECRET = 15
"""Shorter texts are not searched for shapes: they are too short for a key."""

RUN = 15
"""Letters, digits, ``_`` and ``-`` that stand together in every shape, unless its row says less."""


class Shape(NamedTuple):
    """One row: what it is, where its form is documented, and how it is found.

    `signs` are texts in lower case of which each match holds one, in any case. `run` is how many letters,
    digits, ``_`` and ``-`` stand together somewhere in each match: what has neither needs no closer look. Where
    `random` is set, what reads like words is left alone. `replacement` keeps what is no secret. `needs` is
    what else stands in each match.
    """

    what: str
    source: str
    signs: tuple[str, ...]
    pattern: re.Pattern[str]
    run: int = RUN
    random: bool = False
    replacement: str = REDACTED
    needs: str = ""


_GITLEAKS = "gitleaks"
BEGIN = r"(?<![A-Za-z0-9])"
"""Where a value begins."""
_END = r"(?![A-Za-z0-9])"
_STAND_IN = r"(?:\$\{[^}@]*\}|\$\([^)@]*\)|\$(?:[A-Z_][A-Z0-9_]*|[A-Za-z_]+|\d)|\{\{?[^{}@]*\}\}?|%\(\w+\)s|%\w+%|%[sdr]|\*+|<[^<>@]*>)"
"""What stands in an address where its password would."""
_HEX_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def _shape(
    what: str, source: str, signs: str, pattern: str, *, random: bool = False, run: int = RUN
) -> Shape:
    """A row whose value begins where no letter or digit stands before it."""
    compiled = re.compile(rf"{BEGIN}(?:{pattern})")
    return Shape(what, source, tuple(signs.split()), compiled, run, random)


SHAPES: tuple[Shape, ...] = (
    # models and what is built on them
    _shape("OpenAI key", "OpenAI, gitleaks", "sk-", r"(?i:[spr]k-)[A-Za-z0-9_-]{16,}", random=True),
    _shape(
        "Anthropic and OpenRouter key", "Anthropic, gitleaks", "sk-ant- sk-or-", r"sk-(?:ant|or)-[\w-]{16,}"
    ),
    _shape("Langfuse key", "Langfuse", "pk-lf- sk-lf-", rf"[ps]k-lf-{_HEX_ID}"),
    _shape(
        "key of the form pk- or rk-", "Stripe's style", "pk- rk-", r"[pr]k-[A-Za-z0-9_-]{16,}", random=True
    ),
    _shape(
        "Hugging Face token",
        "Hugging Face, gitleaks",
        "hf_ api_org_",
        rf"(?:hf|api_org)_[A-Za-z0-9]{{30,}}{_END}",
    ),
    _shape("Groq key", "Groq", "gsk_", r"(?i:gsk_)[A-Za-z0-9]{20,}", random=True),
    _shape("xAI key", "xAI", "xai-", r"(?i:xai-)[A-Za-z0-9]{20,}", random=True),
    _shape(
        "LangSmith key", "LangSmith", "lsv2_ ls__", r"(?:lsv2_(?:pt|sk)|ls_)_[0-9a-f]{32}(?:_[0-9a-f]{10})?"
    ),
    _shape("Replicate token", "Replicate", "r8_", rf"r8_[A-Za-z0-9]{{30,}}{_END}"),
    _shape("NVIDIA key", "NVIDIA", "nvapi-", r"nvapi-[\w-]{30,}", random=True),
    _shape("Tavily key", "Tavily", "tvly-", r"tvly-[A-Za-z0-9-]{16,}", random=True),
    _shape("Fireworks key", "Fireworks", "fw_", r"fw_[A-Za-z0-9]{20,}", random=True),
    _shape("Jina key", "Jina", "jina_", r"jina_[A-Za-z0-9_-]{30,}", random=True),
    _shape("Perplexity key", "gitleaks", "pplx-", r"pplx-[A-Za-z0-9]{20,}", random=True),
    _shape("Pinecone key", "Pinecone", "pcsk_", r"pcsk_[A-Za-z0-9_]{30,}"),
    _shape("Voyage key", "Voyage", "pa-", r"pa-[A-Za-z0-9_-]{40,}", random=True),
    _shape("Weights & Biases key", "W&B", "wandb_v1_", r"wandb_v1_[A-Za-z0-9_]{20,}"),
    _shape("E2B, Exa and Firecrawl keys", "E2B, Firecrawl", "e2b_ fc-", r"(?:e2b_|fc-)[0-9a-f]{32,}"),
    _shape(
        "Phoenix, Braintrust and Helicone keys",
        "Helicone",
        "sk-helicone- brtr_",
        r"(?:sk-helicone-|brtr_)[\w-]{16,}",
    ),
    _shape("Logfire token", "Logfire", "pylf_v", r"pylf_v\d+_[\w-]{16,}"),
    _shape("Cerebras key", "Cerebras", "csk-", r"csk-[A-Za-z0-9]{20,}", random=True),
    _shape(
        "PrivateAI, Deepgram, AssemblyAI by name only; ElevenLabs key",
        "ElevenLabs",
        "sk_",
        r"sk_[0-9a-f]{40,}",
    ),
    # clouds
    _shape(
        "AWS access key id",
        "AWS, gitleaks",
        "akia asia abia acca a3t",
        rf"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}{_END}",
    ),
    _shape(
        "AWS Bedrock key",
        "AWS",
        "absk bedrock-api-key-",
        r"ABSK[A-Za-z0-9+/]{60,}={0,2}|bedrock-api-key-[\w+/=-]{20,}",
    ),
    _shape("Google API key", "Google, gitleaks", "aiza", r"AIza[0-9A-Za-z_-]{35}"),
    _shape("Google OAuth access token", "Google", "ya29.", r"ya29\.[\w-]{20,}"),
    _shape("Google OAuth client secret", "Google", "gocspx-", r"GOCSPX-[\w-]{20,}"),
    _shape("Google OAuth refresh token", "Google", "1//", r"1//0[\w-]{30,}"),
    _shape(
        "Azure client secret", "Microsoft, gitleaks", "q~", r"(?a:[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w~-]))"
    ),
    _shape("Alibaba access key id", _GITLEAKS, "ltai", rf"LTAI[A-Za-z0-9]{{12,24}}{_END}", random=True),
    _shape("Tencent secret id", "Tencent", "akid", rf"AKID[A-Za-z0-9]{{32,48}}{_END}"),
    _shape(
        "Yandex keys", _GITLEAKS, "aqvn t1.", r"AQVN[\w-]{35,40}|t1\.[\w-]{10,}={0,2}\.[\w-]{80,90}={0,2}"
    ),
    _shape(
        "DigitalOcean tokens",
        "DigitalOcean, gitleaks",
        "dop_v1_ doo_v1_ dor_v1_",
        r"(?i:do[opr]_v1_[0-9a-f]{64})",
    ),
    _shape("Heroku key", "Heroku, gitleaks", "hrku-", r"HRKU-[\w-]{30,}"),
    _shape("Cloudflare origin key", _GITLEAKS, "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    _shape("Databricks token", "Databricks, gitleaks", "dapi", rf"dapi[0-9a-f]{{32}}(?:-\d)?{_END}"),
    _shape(
        "Snyk, Scalingo and Fly tokens", _GITLEAKS, "tk-us- fo1_", r"(?:tk-us-|fo1_)[\w-]{40,}", random=True
    ),
    _shape("Fly.io macaroon", _GITLEAKS, "fm1a_ fm1r_ fm2_", r"fm(?:1[ar]|2)_[A-Za-z0-9+/]{60,}={0,3}"),
    _shape(
        "Vercel tokens",
        "Vercel",
        "vercel_blob_ vcp_ vck_",
        r"(?:vercel_blob_rw_|vc[pk]_)[A-Za-z0-9_]{20,}",
        random=True,
    ),
    _shape("Supabase token", "Supabase", "sbp_ sb_secret_", r"sbp_(?:v0_)?[0-9a-f]{40}|sb_secret_[\w-]{20,}"),
    _shape("Neon key", "Neon", "napi_", r"napi_[a-z0-9]{30,}", random=True),
    _shape("PlanetScale tokens", _GITLEAKS, "pscale_", r"pscale_(?:tkn|oauth|pw)_[\w=.-]{30,}"),
    _shape("ClickHouse key", _GITLEAKS, "4b1d", rf"4b1d[A-Za-z0-9]{{38}}{_END}"),
    _shape("OpenShift token", "OpenShift, gitleaks", "sha256~", r"sha256~[\w-]{43}"),
    _shape(
        "Terraform Cloud token",
        "HashiCorp, gitleaks",
        ".atlasv1.",
        r"[A-Za-z0-9]{14}\.(?i:atlasv1)\.[\w=-]{60,70}",
    ),
    _shape("Vault tokens", "HashiCorp, gitleaks", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,}"),
    _shape("Pulumi token", "Pulumi, gitleaks", "pul-", rf"pul-[0-9a-f]{{40}}{_END}"),
    _shape(
        "Doppler tokens",
        "Doppler, gitleaks",
        "dp.",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]+\.)?[A-Za-z0-9]{40,44}",
    ),
    _shape("Prefect key", "Prefect, gitleaks", "pnu_ pnb_", rf"pn[ub]_[A-Za-z0-9]{{36}}{_END}"),
    _shape(
        "1Password keys",
        "1Password, gitleaks",
        "a3- ops_eyj",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){3,4}[A-Z0-9]{5}|ops_eyJ[\w+/-]{100,}={0,3}",
    ),
    _shape("age key", "age, gitleaks", "age-secret-key-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _shape(
        "Infracost, Infisical and Akeyless",
        _GITLEAKS,
        "ico- st.",
        r"ico-[A-Za-z0-9]{32}|st\.[0-9a-f-]{24,36}\.[0-9a-f]{32}\.[0-9a-f]{32}",
    ),
    # code and packages
    _shape(
        "GitHub tokens", "GitHub, gitleaks", "ghp_ gho_ ghu_ ghs_ ghr_", r"(?i:gh[pousr]_)[A-Za-z0-9]{30,}"
    ),
    _shape(
        "GitHub fine-grained token", "GitHub, gitleaks", "github_pat_", r"(?i:github_pat_)[A-Za-z0-9_]{40,}"
    ),
    _shape(
        "GitLab tokens",
        "GitLab, gitleaks",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- gloas- glagent- glimt- glffct- gr1348941",
        r"(?i:gl(?:pat|dt|rtr?|cbt|ptt|ft|soat|oas|agent|imt|ffct)-)[\w.-]{20,}|GR1348941[\w-]{20,}",
        random=True,
    ),
    _shape(
        "Bitbucket and Atlassian tokens",
        "Atlassian, gitleaks",
        "atatt3 atctt3 atbb",
        r"AT[AC]TT3[\w=-]{50,}|ATBB[A-Za-z0-9_=.-]{24,}",
    ),
    _shape("npm token", "npm, gitleaks", "npm_", rf"(?i:npm_)[A-Za-z0-9]{{36}}{_END}"),
    _shape("PyPI token", "PyPI, gitleaks", "pypi-age", r"pypi-AgE[\w-]{50,}"),
    _shape("RubyGems key", "RubyGems, gitleaks", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _shape("Clojars token", "Clojars, gitleaks", "clojars_", rf"(?i:clojars_[a-z0-9]{{60}}){_END}"),
    _shape(
        "NuGet and crates.io keys",
        "NuGet, crates.io",
        "oy2 cio",
        rf"(?:oy2[a-z0-9]{{43}}|cio[A-Za-z0-9]{{32}}){_END}",
        random=True,
    ),
    _shape("Docker Hub tokens", "Docker", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{20,}"),
    _shape(
        "Artifactory keys",
        "JFrog, gitleaks",
        "akcp cmvmd",
        rf"(?:AKCp[A-Za-z0-9]{{60,}}|cmVmd[A-Za-z0-9]{{50,}}){_END}",
    ),
    _shape("Sourcegraph token", _GITLEAKS, "sgp_", r"sgp_(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}"),
    _shape(
        "CircleCI, Buildkite and SonarQube tokens",
        "CircleCI",
        "ccipat_ bkua_ squ_ sqp_ sqa_",
        r"CCIPAT_[\w]{20,}|bkua_[0-9a-f]{40}|sq[upa]_[0-9a-f]{40}",
    ),
    _shape("Octopus key", _GITLEAKS, "api-", rf"API-[A-Z0-9]{{24,32}}{_END}", random=True),
    _shape("Postman key", "Postman, gitleaks", "pmak-", r"PMAK-[0-9a-fA-F]{24}-[0-9a-fA-F]{34}"),
    _shape("ReadMe key", _GITLEAKS, "rdme_", r"rdme_[a-z0-9]{60,}"),
    # messages and mail
    _shape("Slack tokens", "Slack, gitleaks", "xox", r"(?i:xox[a-z](?:\.xox[a-z])?-)[A-Za-z0-9-]{10,}"),
    _shape(
        "Slack app token", "Slack, gitleaks", "xapp- xwfp-", r"(?i:xapp|xwfp)-[A-Za-z0-9-]{16,}", random=True
    ),
    _shape(
        "Telegram bot token", "Telegram, gitleaks", ":aa", r"(?a:(?:bot)?\d{6,16}:AA[\w-]{32,34}(?![\w-]))"
    ),
    _shape(
        "Discord bot token",
        "Discord, detect-secrets",
        ".",
        r"(?a:[A-Za-z][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,38}(?![\w-]|\.\w))",
        random=True,
    ),
    _shape("SendGrid key", "SendGrid, gitleaks", "sg.", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    _shape("Mailgun keys", _GITLEAKS, "key-", rf"(?:pub)?key-[0-9a-f]{{32}}{_END}"),
    _shape("Mailchimp key", "Mailchimp, gitleaks", "-us", rf"[0-9a-f]{{32}}-us\d{{1,2}}{_END}"),
    _shape("Brevo key", _GITLEAKS, "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _shape("Resend key", "Resend", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", random=True),
    _shape("Twilio key", "Twilio, gitleaks", "sk", rf"SK[0-9a-fA-F]{{32}}{_END}", run=34),
    # money and shops
    _shape(
        "Stripe keys",
        "Stripe, gitleaks",
        "k_live_ k_test_ k_prod_",
        r"(?i:[spr]k_(?:live|test|prod)_)[A-Za-z0-9]{10,}",
    ),
    _shape("webhook secrets", "Stripe, Svix", "whsec_", r"whsec_[A-Za-z0-9+/=]{16,}"),
    _shape(
        "Square tokens",
        "Square, gitleaks",
        "sq0 eaaa",
        rf"sq0[a-z]{{3}}-[\w-]{{22,}}|(?<![/+])EAAA[\w-]{{50,60}}{_END}",
    ),
    _shape(
        "Shopify tokens",
        "Shopify, gitleaks",
        "shpat_ shpca_ shppa_ shpss_",
        r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    ),
    _shape(
        "PayPal and Braintree token",
        "Braintree",
        "access_token$",
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
    ),
    _shape(
        "Plaid token",
        "Plaid, gitleaks",
        "access- public-",
        rf"(?:access|public)-(?:sandbox|development|production)-{_HEX_ID}",
    ),
    _shape(
        "Flutterwave key", _GITLEAKS, "flwseck flwpubk", r"FLW(?:SEC|PUB)K(?:_TEST)?-[0-9a-zA-Z]{12,}(?:-X)?"
    ),
    _shape("EasyPost keys", _GITLEAKS, "ezak eztk", rf"EZ[AT]K[A-Za-z0-9]{{54}}{_END}"),
    _shape(
        "Shippo, Duffel and Lob keys",
        _GITLEAKS,
        "shippo_ duffel_ live_ test_",
        r"shippo_(?:live|test)_[0-9a-fA-F]{40}|duffel_(?:live|test)_[\w=-]{40,}|(?:live|test)_(?:pub_)?[0-9a-f]{31,35}",
    ),
    _shape("Facebook token", "Meta, gitleaks", "eaa", rf"(?<![/+])EAA[A-Za-z][A-Za-z0-9]{{80,}}{_END}"),
    # watching and writing
    _shape("New Relic keys", _GITLEAKS, "nrak- nrii- nrjs- nral-", r"NR(?:AK|II|JS|AL|RA)-[A-Za-z0-9-]{16,}"),
    _shape(
        "Grafana tokens",
        "Grafana, gitleaks",
        "glc_ glsa_",
        r"glc_[A-Za-z0-9+/]{32,}={0,2}|glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}",
        random=True,
    ),
    _shape("Grafana key", _GITLEAKS, "eyjrijoi", r"eyJrIjoi[A-Za-z0-9+/]{40,}={0,2}"),
    _shape(
        "Sentry tokens", "Sentry, gitleaks", "sntrys_ sntryu_", r"sntrys_[\w+/=-]{40,}|sntryu_[0-9a-f]{64}"
    ),
    _shape("Dynatrace token", _GITLEAKS, "dt0", r"dt0[a-z]\d\d\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    _shape("Honeycomb key", "Honeycomb", "hcaik_ hcamk_ hcxik_", r"hc[a-z]{1,2}[im]k_[a-z0-9]{30,}"),
    _shape("PostHog keys", "PostHog", "phx_ phc_", r"ph[xc]_[A-Za-z0-9]{30,}", random=True),
    _shape("Linear keys", "Linear, gitleaks", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    _shape(
        "Notion tokens",
        "Notion, gitleaks",
        "ntn_ secret_",
        rf"ntn_[A-Za-z0-9]{{40,}}|secret_[A-Za-z0-9]{{43}}{_END}",
    ),
    _shape("Airtable token", "Airtable", "pat", rf"pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}{_END}"),
    _shape("HubSpot token", "HubSpot", "pat-", rf"pat-[a-z]{{2}}\d-{_HEX_ID}"),
    _shape(
        "Typeform, Frame.io and SettleMint tokens",
        _GITLEAKS,
        "tfp_ fio-u- sm_aat_ sm_pat_ sm_sat_",
        r"tfp_[\w.=-]{40,}|fio-u-[\w=-]{60,}|sm_[aps]at_[A-Za-z0-9]{16}",
        random=True,
    ),
    _shape("Figma and Asana tokens", "Figma", "figd_", r"figd_[\w-]{30,}"),
    _shape("Adobe client secret", _GITLEAKS, "p8e-", rf"(?i:p8e-[a-z0-9]{{32}}){_END}"),
    _shape("MaxMind key", _GITLEAKS, "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    _shape("Mapbox token", "Mapbox, gitleaks", "pk.eyj sk.eyj", r"[ps]k\.eyJ[\w-]{20,}\.[\w-]{16,}"),
    _shape("Defined Networking key", _GITLEAKS, "dnkey-", r"dnkey-[\w=-]{26}-[\w=-]{52}"),
    _shape(
        "Authress key",
        _GITLEAKS,
        ".acc",
        r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[\w+/=-]{30,}",
    ),
    # of any provider
    _shape(
        "JSON Web Token",
        "RFC 7519",
        "eyj",
        r"eyJ[A-Za-z0-9_-]{12,2000}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    ),
    _shape(
        "encrypted JSON Web Token",
        "RFC 7516",
        "eyj",
        r"eyJ[A-Za-z0-9_-]{12,2000}(?:\.[A-Za-z0-9_-]*){4}",
    ),
    Shape(
        "webhook addresses of Slack, Teams, Discord",
        "Slack, Discord, gitleaks",
        ("hooks.slack.com/", "webhook.office.com/", "/api/webhooks/"),
        re.compile(
            r"((?:hooks\.slack\.com|(?<![\w-])[\w-]{1,63}\.webhook\.office\.com|discord(?:app)?\.com/api/webhooks)/)"
            r"(?!\[redac)[\w+/@.-]{20,}"
        ),
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "signed addresses",
        "AWS, Azure, Google",
        ("x-amz-signature=", "x-goog-signature=", "sig=", "x-amz-security-token="),
        re.compile(
            r"(?i)([?&](?:x-amz-signature|x-amz-security-token|x-goog-signature|sig)=)(?!\[redac)[\w%+/=.-]{16,}"
        ),
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "codes of OAuth in an address",
        "RFC 6749",
        ("?code=", "&code="),
        re.compile(r"(?i)([?&]code=)(?!\[redac)(?=[\w%+/=.~-]{0,60}\d)[\w%+/=.~-]{20,}"),
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "bearer token",
        "RFC 6750",
        ("bearer",),
        re.compile(
            rf"""{BEGIN}(?i:bearer(?:(?:\s+|[ ]?["'`]\s?[+.]\s?["'`])[A-Za-z0-9._~+/-]{{16,}}=*"""
            r"""|[ ]?(?:["'`]\s?[+.]\s?|%s["'`]\s?%\s?\(?|\{\d?\}["'`]\.format\(|\$?\{)["'`]"""
            r"""(?=[^\s"'`]{0,100}\d)[^\s"'`]{8,4096}(?=["'`])))"""
        ),
        0,
        random=True,
    ),
    Shape(
        "private key",
        "RFC 7468, RFC 9580, gitleaks",
        ("-----begin ",),
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
        ),
        0,
    ),
    Shape(
        "user and password before a host",
        "agenttrace",
        ("@",),
        re.compile(
            r"(?<![\w/:@.+-])((?!(?i:mailto|sips?|xmpp|acct|e?mail|from|to|cc|bcc|user|npm):)[A-Za-z][\w.-]{1,30}:)"
            r"(?=[^\s:@/]{0,80}[a-z])(?=[^\s:@/]{0,80}[A-Z])(?=[^\s:@/]{0,80}\d)[^\s:@/\"'<>(){}\[\],;=]{6,80}"
            r"@(?=(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}\b|localhost\b)"
        ),
        0,
        replacement=rf"\1{REDACTED}@",
    ),
    Shape(
        "hash of a password",
        "crypt(5), htpasswd, PHC",
        ("$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$", "$apr1$", "$argon2"),
        re.compile(r"\$(?:1|2[aby]|5|6|y|apr1|argon2(?:id?|d))\$[\w./$=,+-]{16,200}"),
        0,
    ),
    Shape(
        "token alone in a URL",
        "GitHub, Gitea",
        ("://",),
        re.compile(
            r"(://)(?=[^\s/@]{0,60}\d)(?:[A-Za-z0-9]{36,128}|(?=[^\s/@]{0,60}[a-z])(?=[^\s/@]{0,60}[A-Z])[\w-]{16,128})"
            r"(?=:?@[\w.-]+)"
        ),
        0,
        replacement=rf"\1{REDACTED}",
        needs="@",
    ),
    Shape(
        "credentials of SMTP",
        "RFC 4954",
        ("auth plain ", "auth login "),
        re.compile(r"(?i)\b(auth (?:plain|login) )(?!\[redacted\])[A-Za-z0-9+/]{8,}={0,2}(?![\w/+])"),
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "recovery words of a wallet",
        "BIP-39",
        ("mnemonic", "phrase"),
        re.compile(
            r"(?i)((?:mnemonic|(?:seed|recovery|secret|backup)[ _-]phrase)[\"'`*]{0,3}\s{0,3}(?:[:=]|is:?)\s{1,3}[\"'`]?)"
            r"(?:[a-z]{3,8} ){11,23}[a-z]{3,8}\b"
        ),
        0,
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "PuTTY private key",
        "PuTTY",
        ("putty-user-key-file",),
        re.compile(r"(PuTTY-User-Key-File-\d: [\w-]+)[\s\S]*(?:Private-MAC: [0-9a-f]+|\Z)"),
        0,
        replacement=rf"\1 {REDACTED}",
    ),
    Shape(
        "password with signs of a database's URL",
        "libpq, SQLAlchemy",
        ("://",),
        re.compile(
            r"""(?i)(?<![a-z])((?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|oracle|clickhouse|cockroachdb)"""
            r"""(?:\+\w{1,20})?://[^\s/:@?#"'<>\[]*:)(?!\d{1,5}[/?#])(?!\[redacted\]@)[^\s"'<>@/?#]*[/?#@][^\s"'<>?]*@(?=[\w.\[…-])"""
        ),
        0,
        replacement=rf"\1{REDACTED}@",
        needs="@",
    ),
    Shape(
        "password of a URL",
        "RFC 3986, detect-secrets",
        ("://", "netloc="),
        re.compile(
            rf"""((?:://|\bnetloc=\\?['"])[^\s/:@?#"'<>]*:)(?!\[redacted\]@|{_STAND_IN}@|\d{{1,5}}[#])"""
            r"""<?[^\s/?#"'<>]+(?:#[^\s/?#"'<>@]{1,60})?@"""
        ),
        0,
        replacement=rf"\1{REDACTED}@",
        needs="@",
    ),
    Shape(
        "password of Oracle's JDBC",
        "Oracle",
        (":thin:",),
        re.compile(rf"""(?i)(:thin:[^\s/@"']{{1,128}}/)(?!\[redacted\]@|{_STAND_IN}@)[^\s@"'<>]+@"""),
        0,
        replacement=rf"\1{REDACTED}@",
        needs="@",
    ),
    Shape(
        "line of .pgpass",
        "libpq",
        (":5432:", ":5433:", ":6432:"),
        re.compile(
            r"""(?<![\w.:/-])([\w.*-]{1,255}:\d{4}:[\w*-]{1,64}:[\w*.-]{1,64}:)(?!\[redacted\])[^\s"']+(?=\s|\Z)"""
        ),
        0,
        replacement=rf"\1{REDACTED}",
    ),
)

ENCODED_RUN = 24
"""Letters of base64 or hex that are decoded and looked into."""

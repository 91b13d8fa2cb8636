"""The table of shapes of secrets: what a value looks like that gives access, by whose documentation."""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.shape import BEGIN, END, HEX_ID, STAND_IN, Shape, shape
from agenttrace.redaction.shapes_of_addresses import ADDRESSES
from agenttrace.redaction.shapes_of_protocols import OF_PROTOCOLS

VERSION = 13
"""Of the tables of names and shapes: one more whenever a row is added or changed."""

_GITLEAKS = "gitleaks"

SHAPES: tuple[Shape, ...] = (
    # models and what is built on them
    shape("OpenAI key", "OpenAI, gitleaks", "sk-", r"(?i:[spr]k-)[A-Za-z0-9_-]{16,}", random=True),
    shape(
        "Anthropic and OpenRouter key", "Anthropic, gitleaks", "sk-ant- sk-or-", r"sk-(?:ant|or)-[\w-]{16,}"
    ),
    shape("Langfuse key", "Langfuse", "pk-lf- sk-lf-", rf"[ps]k-lf-{HEX_ID}"),
    shape(
        "key of the form pk- or rk-", "Stripe's style", "pk- rk-", r"[pr]k-[A-Za-z0-9_-]{16,}", random=True
    ),
    shape(
        "Hugging Face token",
        "Hugging Face, gitleaks",
        "hf_ api_org_",
        rf"(?:hf|api_org)_[A-Za-z0-9]{{30,}}{END}",
    ),
    shape("Groq key", "Groq", "gsk_", r"(?i:gsk_)[A-Za-z0-9]{20,}", random=True),
    shape("xAI key", "xAI", "xai-", r"(?i:xai-)[A-Za-z0-9]{20,}", random=True),
    shape(
        "LangSmith key", "LangSmith", "lsv2_ ls__", r"(?:lsv2_(?:pt|sk)|ls_)_[0-9a-f]{32}(?:_[0-9a-f]{10})?"
    ),
    shape("Replicate token", "Replicate", "r8_", rf"r8_[A-Za-z0-9]{{30,}}{END}"),
    shape("NVIDIA key", "NVIDIA", "nvapi-", r"nvapi-[\w-]{30,}", random=True),
    shape("Tavily key", "Tavily", "tvly-", r"tvly-[A-Za-z0-9-]{16,}", random=True),
    shape("Fireworks key", "Fireworks", "fw_", r"fw_[A-Za-z0-9]{20,}", random=True),
    shape("Jina key", "Jina", "jina_", r"jina_[A-Za-z0-9_-]{30,}", random=True),
    shape("Perplexity key", "gitleaks", "pplx-", r"pplx-[A-Za-z0-9]{20,}", random=True),
    shape("Pinecone key", "Pinecone", "pcsk_", r"pcsk_[A-Za-z0-9_]{30,}"),
    shape("Voyage key", "Voyage", "pa-", r"pa-[A-Za-z0-9_-]{40,}", random=True),
    shape("Weights & Biases key", "W&B", "wandb_v1_", r"wandb_v1_[A-Za-z0-9_]{20,}"),
    shape("E2B, Exa and Firecrawl keys", "E2B, Firecrawl", "e2b_ fc-", r"(?:e2b_|fc-)[0-9a-f]{32,}"),
    shape(
        "Phoenix, Braintrust and Helicone keys",
        "Helicone",
        "sk-helicone- brtr_",
        r"(?:sk-helicone-|brtr_)[\w-]{16,}",
    ),
    shape("Logfire token", "Logfire", "pylf_v", r"pylf_v\d+_[\w-]{16,}"),
    shape("Cerebras key", "Cerebras", "csk-", r"csk-[A-Za-z0-9]{20,}", random=True),
    shape(
        "PrivateAI, Deepgram, AssemblyAI by name only; ElevenLabs key",
        "ElevenLabs",
        "sk_",
        r"sk_[0-9a-f]{40,}",
    ),
    shape("Together key", "Together", "tgp_v1_", r"tgp_v1_[\w-]{30,}"),
    shape(
        "LlamaCloud and RunPod keys",
        "LlamaIndex, RunPod",
        "llx- rpa_",
        r"(?:llx-[A-Za-z0-9]{40,}|rpa_[A-Z0-9]{36,})",
    ),
    shape(
        "Apify and Browserbase keys",
        "Apify, Browserbase",
        "apify_api_ bb_live_",
        r"(?:apify_api|bb_live)_[\w-]{20,}",
    ),
    shape(
        "Mem0 and Modal keys",
        "Mem0, Modal",
        "m0- ak- as-",
        rf"(?:m0-[A-Za-z0-9]{{36,}}|a[ks]-[A-Za-z0-9]{{22}}{END})",
        random=True,
    ),
    shape("Brave Search key", "Brave", "bsa", rf"BSA[A-Za-z0-9_-]{{24,32}}{END}", random=True),
    shape("Cursor and Context7 keys", "Cursor", "crsr_ ctx7sk-", rf"crsr_[0-9a-f]{{64}}|ctx7sk-{HEX_ID}"),
    # clouds
    Shape(
        "AWS secret beside its id",
        "AWS",
        ("akia", "asia"),
        re.compile(
            rf"({BEGIN}A[KS]IA[A-Z0-9]{{16}}(?:[\s:/|,;]|secret|key|\band\b){{1,30}})[A-Za-z0-9/+]{{40}}(?![\w/+=])"
        ),
        replacement=rf"\1{REDACTED}",
    ),
    shape(
        "AWS access key id",
        "AWS, gitleaks",
        "akia asia abia acca a3t",
        rf"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}{END}",
    ),
    shape(
        "AWS Bedrock key",
        "AWS",
        "absk bedrock-api-key-",
        r"ABSK[A-Za-z0-9+/]{60,}={0,2}|bedrock-api-key-[\w+/=-]{20,}",
    ),
    shape(
        "AWS session token",
        "AWS",
        "iqojb3jpz2lu fwogzxivyxdz",
        r"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[A-Za-z0-9+/]{60,4000}={0,2}",
    ),
    shape("Google API key", "Google, gitleaks", "aiza", r"AIza[0-9A-Za-z_-]{35}"),
    shape("Gemini API key", "Google", "aq.", rf"AQ\.[A-Za-z0-9_-]{{40,}}{END}", random=True),
    shape("FCM server key", "Google", ":apa91b", r"AAAA[\w-]{7}:APA91b[\w-]{100,}"),
    shape("Google OAuth access token", "Google", "ya29.", r"ya29\.[\w-]{20,}"),
    shape("Google OAuth client secret", "Google", "gocspx-", r"GOCSPX-[\w-]{20,}"),
    shape("Google OAuth refresh token", "Google", "1//", r"1//0[\w-]{30,}"),
    shape("Azure client secret", "Microsoft, gitleaks", "q~", r"(?a:[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w~-]))"),
    shape("Azure AI key", "Microsoft", "jqqj99", rf"[A-Za-z0-9]{{52}}JQQJ99[A-Za-z0-9]{{26}}{END}"),
    shape("Alibaba access key id", _GITLEAKS, "ltai", rf"LTAI[A-Za-z0-9]{{12,24}}{END}", random=True),
    shape("Tencent secret id", "Tencent", "akid", rf"AKID[A-Za-z0-9]{{32,48}}{END}"),
    shape("Yandex keys", _GITLEAKS, "aqvn t1.", r"AQVN[\w-]{35,40}|t1\.[\w-]{10,}={0,2}\.[\w-]{80,90}={0,2}"),
    shape(
        "DigitalOcean tokens",
        "DigitalOcean, gitleaks",
        "dop_v1_ doo_v1_ dor_v1_",
        r"(?i:do[opr]_v1_[0-9a-f]{64})",
    ),
    shape("Harness token", _GITLEAKS, "pat. sat.", r"[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.\w{20}", random=True),
    shape("42 secret", _GITLEAKS, "s-s4t2", r"s-s4t2(?:ud|af)-[0-9a-f]{64}"),
    shape("Amazon MWS token", "Amazon", "amzn.mws.", rf"amzn\.mws\.{HEX_ID}"),
    shape("Inngest key", "Inngest", "signkey-", r"signkey-(?:prod|test|branch)-[0-9a-f]{32,}"),
    shape("Heroku key", "Heroku, gitleaks", "hrku-", r"HRKU-[\w-]{30,}"),
    shape("Cloudflare origin key", _GITLEAKS, "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    shape("Databricks token", "Databricks, gitleaks", "dapi", rf"dapi[0-9a-f]{{32}}(?:-\d)?{END}"),
    shape(
        "Snyk, Scalingo and Fly tokens", _GITLEAKS, "tk-us- fo1_", r"(?:tk-us-|fo1_)[\w-]{40,}", random=True
    ),
    shape("Fly.io macaroon", _GITLEAKS, "fm1a_ fm1r_ fm2_", r"fm(?:1[ar]|2)_[A-Za-z0-9+/]{60,}={0,3}"),
    shape(
        "Vercel tokens",
        "Vercel",
        "vercel_blob_ vcp_ vck_",
        r"(?:vercel_blob_rw_|vc[pk]_)[A-Za-z0-9_]{20,}",
        random=True,
    ),
    shape(
        "Render and Netlify tokens",
        "Render, Netlify",
        "rnd_ nfp_",
        r"(?:rnd|nfp)_[A-Za-z0-9]{20,}",
        random=True,
    ),
    shape("Tailscale keys", "Tailscale", "tskey-", r"tskey-[a-z]{3,10}-[\w-]{16,}"),
    shape("Supabase token", "Supabase", "sbp_ sb_secret_", r"sbp_(?:v0_)?[0-9a-f]{40}|sb_secret_[\w-]{20,}"),
    shape("Neon key", "Neon", "napi_", r"napi_[A-Za-z0-9]{30,}", random=True),
    shape("PlanetScale tokens", _GITLEAKS, "pscale_", r"pscale_(?:tkn|oauth|pw)_[\w=.-]{30,}"),
    shape("ClickHouse key", _GITLEAKS, "4b1d", rf"4b1d[A-Za-z0-9]{{38}}{END}"),
    shape("OpenShift token", "OpenShift, gitleaks", "sha256~", r"sha256~[\w-]{43}"),
    shape(
        "Terraform Cloud token",
        "HashiCorp, gitleaks",
        "atlasv1.",
        r"(?:[A-Za-z0-9]{14}\.)?(?i:atlasv1)\.[\w=-]{60,90}",
    ),
    shape(
        "Vault tokens",
        "HashiCorp, gitleaks",
        "hvs. hvb. hvr. s. b.aaaaa",
        r"hv[sbr]\.[\w-]{24,}|b\.AAAAA[\w-]{80,}|s\.(?=[A-Za-z]{0,21}\d{1,23}[A-Za-z]{1,23}\d)"
        rf"(?=[a-z\d]{{0,23}}[A-Z])(?=[A-Z\d]{{0,23}}[a-z])[A-Za-z0-9]{{24}}{END}",
    ),
    shape("Pulumi token", "Pulumi, gitleaks", "pul-", rf"pul-[0-9a-f]{{40}}{END}"),
    shape(
        "Doppler tokens",
        "Doppler, gitleaks",
        "dp.",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]+\.)?[A-Za-z0-9]{40,44}",
    ),
    shape("Prefect key", "Prefect, gitleaks", "pnu_ pnb_", rf"pn[ub]_[A-Za-z0-9]{{36}}{END}"),
    shape(
        "1Password keys",
        "1Password, gitleaks",
        "a3- ops_eyj",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){3,4}[A-Z0-9]{5}|ops_eyJ[\w+/-]{100,}={0,3}",
    ),
    shape("age key", "age, gitleaks", "age-secret-key-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    shape(
        "Infracost, Infisical and Akeyless",
        _GITLEAKS,
        "ico- st.",
        r"ico-[A-Za-z0-9]{32}|st\.[0-9a-f-]{24,36}\.[0-9a-f]{32}\.[0-9a-f]{32}",
    ),
    # code and packages
    shape(
        "GitHub tokens", "GitHub, gitleaks", "ghp_ gho_ ghu_ ghs_ ghr_", r"(?i:gh[pousr]_)[A-Za-z0-9]{30,}"
    ),
    shape(
        "GitHub fine-grained token", "GitHub, gitleaks", "github_pat_", r"(?i:github_pat_)[A-Za-z0-9_]{40,}"
    ),
    shape(
        "GitLab tokens",
        "GitLab, gitleaks",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- gloas- glagent- glimt- glffct- gr1348941",
        r"(?i:gl(?:pat|dt|rtr?|cbt|ptt|ft|soat|oas|agent|imt|ffct)-)[\w.-]{20,}|GR1348941[\w-]{20,}",
        random=True,
    ),
    shape(
        "Bitbucket and Atlassian tokens",
        "Atlassian, gitleaks",
        "atatt3 atctt3 atbb",
        r"AT[AC]TT3[\w=-]{50,}|ATBB[A-Za-z0-9_=.-]{24,}",
    ),
    shape("npm token", "npm, gitleaks", "npm_", rf"(?i:npm_)[A-Za-z0-9]{{36}}{END}"),
    shape("PyPI token", "PyPI, gitleaks", "pypi-age", r"pypi-AgE[\w-]{50,}"),
    shape("RubyGems key", "RubyGems, gitleaks", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    shape("Clojars token", "Clojars, gitleaks", "clojars_", rf"(?i:clojars_[a-z0-9]{{60}}){END}"),
    shape(
        "NuGet and crates.io keys",
        "NuGet, crates.io",
        "oy2 cio",
        rf"(?:oy2[a-z0-9]{{43}}|cio[A-Za-z0-9]{{32}}){END}",
        random=True,
    ),
    shape("Docker Hub tokens", "Docker", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{20,}"),
    shape(
        "Artifactory keys",
        "JFrog, gitleaks",
        "akcp cmvmd",
        rf"(?:AKCp[A-Za-z0-9]{{60,}}|cmVmd[A-Za-z0-9]{{50,}}){END}",
    ),
    shape("Sourcegraph token", _GITLEAKS, "sgp_", r"sgp_(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}"),
    shape(
        "CircleCI, Buildkite and SonarQube tokens",
        "CircleCI",
        "ccipat_ bkua_ squ_ sqp_ sqa_",
        r"CCIPAT_[\w]{20,}|bkua_[0-9a-f]{40}|sq[upa]_[0-9a-f]{40}",
    ),
    shape("Octopus key", _GITLEAKS, "api-", rf"API-[A-Z0-9]{{24,32}}{END}", random=True),
    shape("Postman key", "Postman, gitleaks", "pmak-", r"PMAK-[0-9a-fA-F]{24}-[0-9a-fA-F]{34}"),
    shape("ReadMe key", _GITLEAKS, "rdme_", r"rdme_[a-z0-9]{60,}"),
    shape("ClickUp token", "ClickUp", "pk_", rf"pk_\d{{5,12}}_[A-Z0-9]{{32}}{END}"),
    shape("Contentful token", "Contentful", "cfpat-", r"CFPAT-[\w-]{40,}"),
    shape("Dropbox token", "Dropbox, gitleaks", "sl.", r"sl\.(?:u\.)?[\w-]{120,}"),
    shape("Azure DevOps token", "Microsoft", "azdo", rf"[A-Za-z0-9]{{76}}AZDO[A-Za-z0-9]{{4}}{END}"),
    shape("Asana token", "Asana", "1/ 2/", rf"[12]/\d{{13,20}}(?:/\d{{13,20}})?:[0-9a-f]{{32}}{END}"),
    shape("extended private key of a wallet", "BIP 32", "prv", r"[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{100,112}"),
    # messages and mail
    shape("Slack tokens", "Slack, gitleaks", "xox", r"(?i:xox[a-z](?:\.xox[a-z])?-)[A-Za-z0-9-]{10,}"),
    shape(
        "Slack app token", "Slack, gitleaks", "xapp- xwfp-", r"(?i:xapp|xwfp)-[A-Za-z0-9-]{16,}", random=True
    ),
    shape(
        "Telegram bot token", "Telegram, gitleaks", ":aa", r"(?a:(?:bot)?\d{6,16}:AA[\w-]{32,34}(?![\w-]))"
    ),
    shape(
        "Discord bot token",
        "Discord, detect-secrets",
        ".",
        r"(?a:[A-Za-z][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,38}(?![\w-]|\.\w))",
        random=True,
    ),
    shape("SendGrid key", "SendGrid, gitleaks", "sg.", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    shape("Mailgun keys", _GITLEAKS, "key-", rf"(?:pub)?key-[0-9a-f]{{32}}{END}"),
    shape("Mailchimp key", "Mailchimp, gitleaks", "-us", rf"[0-9a-f]{{32}}-us\d{{1,2}}{END}"),
    shape("Brevo key", _GITLEAKS, "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    shape("Resend key", "Resend", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", random=True),
    shape("Twilio key", "Twilio, gitleaks", "sk", rf"SK[0-9a-fA-F]{{32}}{END}", run=34),
    shape("Instagram token", "Meta", "igqv", r"IGQV[\w-]{60,}"),
    shape(
        "token of an app of X",
        "X, gitleaks",
        "aaaaaaaaaaaaaaaaaaaaaa",
        r"A{22}(?=[A-Za-z0-9]{1,80}%(?:2[BF]|3D))[A-Za-z0-9%]{60,120}",
    ),
    # money and shops
    shape(
        "Stripe keys",
        "Stripe, gitleaks",
        "k_live_ k_test_ k_prod_ k_sbox_",
        r"(?i:[spr]k_(?:live|test|prod|sbox)_)[A-Za-z0-9]{10,}",
    ),
    shape("webhook secrets", "Stripe, Svix", "whsec_", r"whsec_[A-Za-z0-9+/=]{16,}"),
    shape(
        "Square tokens",
        "Square, gitleaks",
        "sq0 eaaa",
        rf"sq0[a-z]{{3}}-[\w-]{{22,}}|(?<![/+])EAAA[\w-]{{50,64}}{END}",
    ),
    shape(
        "Shopify tokens",
        "Shopify, gitleaks",
        "shpat_ shpca_ shppa_ shpss_",
        r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    ),
    shape(
        "PayPal and Braintree token",
        "Braintree",
        "access_token$",
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
    ),
    shape(
        "Plaid token",
        "Plaid, gitleaks",
        "access- public-",
        rf"(?:access|public)-(?:sandbox|development|production)-{HEX_ID}",
    ),
    shape(
        "Flutterwave key", _GITLEAKS, "flwseck flwpubk", r"FLW(?:SEC|PUB)K(?:_TEST)?-[0-9a-zA-Z]{12,}(?:-X)?"
    ),
    shape("Stytch secret", "Stytch", "secret-", r"secret-(?:test|live)-[\w-]{32,}={0,2}", random=True),
    shape("EasyPost keys", _GITLEAKS, "ezak eztk", rf"EZ[AT]K[A-Za-z0-9]{{54}}{END}"),
    shape(
        "Shippo, Duffel and Lob keys",
        _GITLEAKS,
        "shippo_ duffel_ live_ test_",
        r"shippo_(?:live|test)_[0-9a-fA-F]{40}|duffel_(?:live|test)_[\w=-]{40,}|(?:live|test)_(?:pub_)?[0-9a-f]{31,35}",
    ),
    shape("Facebook token", "Meta, gitleaks", "eaa", rf"(?<![/+])EAA[A-Za-z][A-Za-z0-9]{{80,}}{END}"),
    # watching and writing
    shape("Datadog token", "Datadog", "ddp_", r"ddp_[A-Za-z0-9]{30,}"),
    shape("New Relic keys", _GITLEAKS, "nrak- nrii- nrjs- nral-", r"NR(?:AK|II|JS|AL|RA)-[A-Za-z0-9-]{16,}"),
    shape(
        "Grafana tokens",
        "Grafana, gitleaks",
        "glc_ glsa_",
        r"glc_[A-Za-z0-9+/]{32,}={0,2}|glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}",
        random=True,
    ),
    shape("Grafana key", _GITLEAKS, "eyjrijoi", r"eyJrIjoi[A-Za-z0-9+/]{40,}={0,2}"),
    shape(
        "Sentry tokens", "Sentry, gitleaks", "sntrys_ sntryu_", r"sntrys_[\w+/=-]{40,}|sntryu_[0-9a-f]{64}"
    ),
    shape("Dynatrace token", _GITLEAKS, "dt0", r"dt0[a-z]\d\d\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    shape("Honeycomb key", "Honeycomb", "hcaik_ hcamk_ hcxik_", r"hc[a-z]{1,2}[im]k_[a-z0-9]{30,}"),
    shape("PostHog keys", "PostHog", "phx_ phc_", r"ph[xc]_[A-Za-z0-9]{30,}", random=True),
    shape("Linear keys", "Linear, gitleaks", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    shape(
        "Notion tokens",
        "Notion, gitleaks",
        "ntn_ secret_",
        rf"ntn_[A-Za-z0-9]{{40,}}|secret_[A-Za-z0-9]{{43}}{END}",
    ),
    shape("Airtable token", "Airtable", "pat", rf"pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}{END}"),
    shape("HubSpot token", "HubSpot", "pat-", rf"pat-[a-z]{{2}}\d-{HEX_ID}"),
    shape(
        "Typeform, Frame.io and SettleMint tokens",
        _GITLEAKS,
        "tfp_ fio-u- sm_aat_ sm_pat_ sm_sat_",
        r"tfp_[\w.=-]{40,}|fio-u-[\w=-]{60,}|sm_[aps]at_[A-Za-z0-9]{16}",
        random=True,
    ),
    shape("Figma and Asana tokens", "Figma", "figd_", r"figd_[\w-]{30,}"),
    shape("Adobe client secret", _GITLEAKS, "p8e-", rf"(?i:p8e-[a-z0-9]{{32}}){END}"),
    shape("MaxMind key", _GITLEAKS, "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    shape("Mapbox token", "Mapbox, gitleaks", "pk.eyj sk.eyj", r"[ps]k\.eyJ[\w-]{20,}\.[\w-]{16,}"),
    shape("Defined Networking key", _GITLEAKS, "dnkey-", r"dnkey-[\w=-]{26}-[\w=-]{52}"),
    shape(
        "Authress key",
        _GITLEAKS,
        ".acc",
        r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[\w+/=-]{30,}",
    ),
    # of any provider
    shape(
        "JSON Web Token",
        "RFC 7519",
        "eyj",
        r"eyJ[A-Za-z0-9_-]{12,2000}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    ),
    shape(
        "encrypted JSON Web Token",
        "RFC 7516",
        "eyj",
        r"eyJ[A-Za-z0-9_-]{12,2000}(?:\.[A-Za-z0-9_-]*){4}",
    ),
    *ADDRESSES,
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
            r"(?=(?::(?:x-oauth-basic)?)?@[\w.-]+)"
        ),
        0,
        replacement=rf"\1{REDACTED}",
        needs="@",
    ),
    *OF_PROTOCOLS,
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
            rf"""((?:://|\bnetloc=\\?['"])[^\s/:@?#"'<>]*:)(?!\[redacted\]@|x-oauth-basic@|{STAND_IN}@|\d{{1,5}}[#])"""
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
        re.compile(rf"""(?i)(:thin:[^\s/@"']{{1,128}}/)(?!\[redacted\]@|{STAND_IN}@)[^\s@"'<>]+@"""),
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

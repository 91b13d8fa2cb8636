"""What stands behind a secret's name and says whose it is: ``password_postgres``, ``api_key_openai``."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_QUALIFIERS = _words(
    """
    main root admin administrator user production prod prd staging stage stg testing qa uat sandbox
    master slave leader follower local remote readonly ro rw readwrite reader writer replica standby
    owner superuser super sudo guest app application service svc server client system sys internal
    external public private global shared first second third one two a b eu us uk de fr asia apac emea
    east west north south central db database api web www backend frontend worker batch cron bot agent
    ci cd build deploy release dev development personal team company customer tenant postgres postgresql
    pg psql mysql mariadb oracle mssql sqlserver sqlite redis valkey memcached mongo mongodb cassandra
    couchdb couchbase dynamodb elastic elasticsearch opensearch clickhouse influxdb kafka rabbitmq amqp
    mqtt nats smtp imap ldap ad ftp sftp ssh smb vpn wifi proxy mail email jenkins artifactory nexus
    sonar sonarqube harbor vault consul nomad minio keycloak airflow grafana prometheus kibana jupyter
    docker registry kubernetes openai anthropic claude gemini google gcp firebase azure microsoft aws
    bedrock mistral cohere groq xai grok deepseek perplexity together fireworks replicate openrouter
    huggingface hf nvidia voyage jina tavily serper serpapi exa brave firecrawl pinecone weaviate qdrant
    chroma milvus langfuse langsmith langchain wandb comet mlflow arize phoenix braintrust stripe paypal
    square adyen plaid twilio sendgrid mailgun mailchimp postmark resend slack discord telegram whatsapp
    github gitlab bitbucket npm pypi sentry datadog newrelic honeycomb cloudflare fastly vercel netlify
    heroku fly railway render supabase algolia snowflake databricks bigquery redshift airtable notion
    hubspot salesforce shopify zendesk jira confluence atlassian linear asana trello intercom amplitude
    mixpanel posthog mapbox binance coinbase kraken twitter facebook instagram linkedin youtube spotify
    steam elevenlabs deepgram okta
    """
)
_MOST = 2
_SAYS_WHAT = _words(
    """
    id ids uid uuid guid name names username url uri urls link path file filename folder dir type types
    kind count counts length len size limit limits max min total usage budget policy hint expiry expires
    expired expiration ttl at on date time timestamp by since until age status state valid enabled
    required set version arn ref reference label labels title description desc header headers field
    fields column format prefix suffix algorithm alg regex pattern rule rules rotation strength score
    manager store provider source address contract symbol index position start end level page request
    response endpoint host hostname port region bucket scope scopes claims issuer audience subject
    digest fingerprint checksum email mail user owner role class function method module generator
    validator handler factory helper util utils parser encoder decoder mask placeholder template text
    message error errors prompt question answer input output event metadata meta data info details
    config settings options params args list map dict table key keys logprob logprobs probs
    """
)
"""Last words that say what is told of a secret, and not whose it is: ``password_policy``, ``token_count``."""


def without_qualifiers(words: list[str]) -> list[str]:
    """The words of a name without those at its end that say whose it is; the same list where none does."""
    end = len(words)
    for _ in range(_MOST):
        if end > 1 and words[end - 1] in _QUALIFIERS:
            end -= 1
        elif end > 2 and "".join(words[end - 2 : end]) in _QUALIFIERS:  # ``apiKeyOpenAI``
            end -= 2
    return words[:end]


def without_last(words: list[str]) -> list[str]:
    """The words of a name without the last one, which may be anybody's, ``token_acme``; the same list where
    it says what is told of the secret, ``token_count``."""
    return words if len(words) < 2 or words[-1] in _SAYS_WHAT else words[:-1]

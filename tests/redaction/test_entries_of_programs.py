"""Entries of programs, of which their kind alone says that they hold a secret: as data and as text."""

import json

import pytest

from agenttrace import Redaction

SECRET = "kX9vQ2mZ7bLpT4wR"
ENTRIES = {
    "Kubernetes": {"kind": "Secret", "data": {"stripe": SECRET}},
    "Kubernetes, whole": {"apiVersion": "v1", "data": {"URL": SECRET}, "kind": "Secret", "type": "Opaque"},
    "AWS": {"Parameters": [{"Name": "/prod/stripe", "Type": "SecureString", "Value": SECRET}]},
    "Azure": {"id": "https://v.vault.azure.net/secrets/stripe/abc", "value": SECRET},
    "Google": {"name": "projects/1/secrets/stripe/versions/1", "payload": {"data": SECRET}},
    "Vault": {"lease_id": "", "lease_duration": 0, "data": {"data": {"stripe": SECRET}, "metadata": {}}},
    "1Password": {"fields": [{"type": "CONCEALED", "label": "k", "value": SECRET}]},
    "Terraform": {"db": {"sensitive": True, "value": SECRET, "type": "string"}},
    "OAuth": {"grant_type": "authorization_code", "code": SECRET},
}
REMARKS = [
    {"password": ["is invalid"]},
    {"api_key": ["can't be blank"]},
    {"errors": {"password": ["is too short (minimum is 8 characters)"]}},
    {"password_confirmation": ["doesn't match Password"]},
    {"token": ["Not a valid string."]},
    {"password": ["Required"]},
    {"password": {"message": "Path `password` is required."}},
]


@pytest.mark.parametrize("form", [dict, json.dumps, lambda entry: json.dumps(entry, indent=4)])
@pytest.mark.parametrize("program", ENTRIES)
def test_the_secret_of_an_entry_is_hidden(program, form):
    clean = str(Redaction().value("output", form(ENTRIES[program])))
    assert SECRET not in clean
    assert "[redacted]" in clean


@pytest.mark.parametrize("around", ["$ kubectl get secret x -o json\n{}", "It printed {}.", "stdout: {}"])
def test_it_is_hidden_amid_a_text(around):
    text = around.format(json.dumps(ENTRIES["Kubernetes"]))
    assert SECRET not in Redaction().value("output", text)


@pytest.mark.parametrize("remark", REMARKS, ids=str)
def test_what_a_check_of_a_form_says_stays(remark):
    assert Redaction().value("errors", remark) == remark


def test_what_a_check_of_a_form_says_stays_in_a_text():
    text = json.dumps({"errors": {"password": ["is too short"], "api_key": ["is invalid"]}})
    assert Redaction().value("errors", text) == text


def test_the_data_of_another_lease_stay():
    lease = {"lease_id": "L-17", "data": {"tenant": "Ann", "rent": 900}}
    assert Redaction().value("x", lease) == lease


def test_a_passphrase_under_the_name_of_a_password_is_hidden():
    for phrase in ("Correct horse battery staple", "is this safe", "must have been love"):
        assert Redaction().value("x", {"password": phrase}) != {"password": phrase}


BASE64 = "u8jzPde0IgxLd6GncfBAepfJBd0Kh8oOOL8dKLzdocJ2isAjIhKtJ0RlgLKOmxgJTeKdNnFRIBXuDL7DxtpYlS=="
HEX = "729fae923d5a4fd12aabfe228f219e9c"
OF_ACCOUNTS = [
    [{"keyName": "key1", "permissions": "FULL", "value": BASE64}],
    {"keys": [{"creationTime": None, "keyName": "key2", "value": BASE64}]},
    {"key1": HEX, "key2": HEX[::-1]},
    {"keyName": "Root", "primaryKey": BASE64, "secondaryKey": BASE64[::-1].lstrip("=")},
    {"primaryKey": HEX, "secondary_key": HEX},
]
OF_OTHERS = [
    {"primaryKey": "id", "secondaryKey": "created_at2"},
    {"primary_key": "order_id_2", "secondary_key": "65a1f0c2e4b0a1b2c3d4e5f6"},
    {"key1": "value1", "key2": "value2"},
    {"key1": HEX},
    {"key1": "the-first-of-the-values-in-the-list-1", "key2": 3},
    {"keyName": "key1", "value": "value1"},
    {"keyName": "commit", "value": HEX},
]


@pytest.mark.parametrize("form", [dict, json.dumps, str, lambda entry: json.dumps(entry, indent=4)])
@pytest.mark.parametrize("entry", OF_ACCOUNTS, ids=str)
def test_the_keys_of_an_account_of_azure_are_hidden(form, entry):
    form = list if form is dict and type(entry) is list else form
    clean = str(Redaction().value("output", form(entry)))
    assert BASE64 not in clean
    assert HEX not in clean
    assert HEX[::-1] not in clean
    assert BASE64[::-1].lstrip("=") not in clean
    assert not Redaction().holds_nothing(["of Paris", f"It is {json.dumps(entry)}"])


@pytest.mark.parametrize("form", [dict, json.dumps])
@pytest.mark.parametrize("entry", OF_OTHERS, ids=str)
def test_other_values_of_these_names_stay(form, entry):
    assert Redaction().value("output", form(entry)) == form(entry)

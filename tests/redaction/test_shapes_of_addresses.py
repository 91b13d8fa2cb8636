"""Addresses that are secrets themselves, and keys by their prefix that nothing names."""

import random
import string

import pytest

from agenttrace import Redaction

_RANDOM = random.Random(5)


def letters(count, alphabet=string.ascii_letters + string.digits):
    return "".join(_RANDOM.choice(alphabet) for _ in range(count))


CAPITALS, HEX = string.ascii_uppercase + string.digits, "0123456789abcdef"
KEYS = {
    "Square": f"EAAAE{letters(60)}",
    "Instagram": f"IGQVJ{letters(140)}",
    "X": f"{'A' * 22}{letters(40)}%2B{letters(20)}%3D{letters(30)}",
    "Together": f"tgp_v1_{letters(43)}",
    "Render": f"rnd_{letters(28)}",
    "Netlify": f"nfp_{letters(36)}",
    "ClickUp": f"pk_12345678_{letters(32, CAPITALS)}",
    "Contentful": f"CFPAT-{letters(43)}",
    "Tailscale": f"tskey-auth-k{letters(10)}CNTRL-{letters(32)}",
    "Dropbox": f"sl.B{letters(134)}",
    "Brave": f"BSA{letters(28)}",
    "Datadog": f"ddp_{letters(36)}",
    "Azure DevOps": f"{letters(76)}AZDO{letters(4)}",
    "LlamaCloud": f"llx-{letters(48)}",
    "Apify": f"apify_api_{letters(36)}",
    "RunPod": f"rpa_{letters(42, CAPITALS)}",
    "Mem0": f"m0-{letters(40)}",
    "Asana": f"1/1234567890123456:{letters(32, HEX)}",
    "BIP 32": f"xprv9s21{letters(103, '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz')}",
}
ADDRESSES = {
    f"https://hooks.zapier.com/hooks/catch/1234567/{letters(7, HEX)}/": 7,
    f"https://hook.eu1.make.com/{letters(32)}": 32,
    f"https://maker.ifttt.com/trigger/x/with/key/{letters(22)}": 22,
    f"https://mainnet.infura.io/v3/{letters(32, HEX)}": 32,
    f"https://eth-mainnet.g.alchemy.com/v2/{letters(32)}": 32,
    f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={letters(36, HEX)}": 36,
    f"https://open.feishu.cn/open-apis/bot/v2/hook/{letters(36, HEX)}": 36,
    f"https://rpc.ankr.com/eth/{letters(64, HEX)}": 64,
    f"https://b.s3.amazonaws.com/k?AWSAccessKeyId=x&Expires=1&Signature={letters(26)}": 26,
    f"https://app.example.com/reset-password/{letters(24)}": 24,
    f"https://example.com/login/magic/{letters(30)}": 30,
    f"https://shop.example.com/accounts/reset/MQ/c5f3ab-{letters(32, HEX)}": 39,
    f"https://example.com/reset/{letters(20)}": 20,
    f"https://api.weatherapi.com/v1/current.json?q=Paris&key={letters(31, HEX)}": 31,
}
OTHERS = [
    "https://example.com/?key=some-long-object-name-2024-final",
    "https://example.com/?key=0b9bd8c4-6ba6-4f13-9d3a-2f2b1de0a001",
    "https://github.com/x/reset-password/blob/main/README-2024-x.md",
    "https://example.org/invite/2024-annual-company-meeting",
    "https://hooks.zapier.com/docs",
]


@pytest.mark.parametrize("name", KEYS)
def test_a_key_is_hidden_by_its_prefix_alone(name):
    assert Redaction().value("text", f"use {KEYS[name]} now") == "use [redacted] now"


@pytest.mark.parametrize("address", ADDRESSES, ids=lambda address: address.split("/")[2])
def test_the_secret_part_of_an_address_is_hidden_and_the_rest_is_kept(address):
    secret = address.rstrip("/")[-ADDRESSES[address] :]
    assert Redaction().value("url", address) == address.replace(secret, "[redacted]")


@pytest.mark.parametrize("address", OTHERS)
def test_other_addresses_stay(address):
    assert Redaction().value("url", address) == address

from __future__ import annotations

import pytest
from redaction.noise import ALNUM, BASE64, HEX, LOWER, URL64, lines, noise, uuid

from memtool.redaction import Redactor
from memtool.redaction.randomness import looks_random


@pytest.mark.parametrize("alphabet", [ALNUM, URL64, BASE64])
@pytest.mark.parametrize("length", [32, 40, 64, 88])
def test_a_random_string_without_a_name_goes(redact: Redactor, alphabet: str, length: int) -> None:
    for seed in range(20):
        secret = "x" + noise(length, alphabet, seed).replace("-", "m").replace("_", "n") + "y"
        assert secret not in redact(f"我用的是{secret}，see {secret}.")


def test_nine_hundred_and_ninety_of_a_thousand_are_seen() -> None:
    assert sum(looks_random(noise(32, ALNUM, seed)) for seed in range(1000)) >= 990
    assert sum(looks_random(noise(40, LOWER, seed)) for seed in range(1000)) >= 900


NOT_DRAWN = lines("""
    getUserByIdFromCacheOrDatabase2
    test_a_stale_writer_loses_and_says_so_2026
    EVP_PKEY_CTX_set_rsa_mgf1_md
    AbstractSingletonProxyFactoryBean2Implementation
    _ZNSt7__cxx1114collate_bynameIcEC1EPKcm
    areas/projects/shop/decisions/2026-01-19-jwt-rather-than-server-sessions.md
    src/components/Button2/ButtonGroup.test.tsx
    https://github.com/huggingface/huggingface_hub/issues/1503
    -home-bob-src-Shop2-packages-api
    node_modules/.pnpm/react-dom@18.2.0
    2026-02-10T14:30:00.000Z-snapshot-Final2
    claude-sonnet-4-5-20250929
""")
# Names of functions, types and tests that stand in code of several languages: short parts, digits in the middle.
NAMES = lines("""
    TestBytesWithHighEntropySecretV2 TestCollectJSONLReplacements_Succeeds TestX509KeyPair_TLS13Resumption2
    MLKEM768X25519PrivateKey BytesWriter_WriteF32BEUnsafe CPyBytes_ReadI64LEUnsafe
    xmlSecNssKeyDataRawX509CertGetKlass xmlSecQName2BitMaskDebugDump i2d_PKCS8PrivateKey_nid_fp
    PK11_FindRawCertsWithSubject XCOFFSectAuxEntForDWARF64
    verifyHashedRekordTLogBodyV2 GetUserByIdFromOAuth2ProviderV3 setUpMockS3BucketForE2ETests
    shouldRejectExpiredJwtRs256Tokens convertUtf8ToUtf16LeBuffer useInfiniteScroll2WithSSRFallback
    IHttpClientFactoryV2Extensions GivenAnOrder_WhenPaidTwice_ThenThrows409 parseIso8601DurationToMillis
    decode_base64url_into_vec8_unchecked test_sha256_of_utf8_names_2026 k8sDeploymentV1beta1FromYaml
    abgleichKundenStammdatenV2 calculerTotalTtcAvecRemise2 obtenerUsuarioPorIdDesdeCacheV2
    jisuanDingdanZongjinE2Version chaxunYonghuXinxiByIdV2
""")
PUBLIC = [
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA" + noise(44),
    "SHA256:" + noise(43),
    "sha256-" + noise(43) + "=",
    "sha512-" + noise(86) + "==",
    noise(40, HEX),
    noise(64, HEX),
    uuid(),
    "build-" + noise(24, HEX) + "-x86_64-linux",
    "0x" + noise(40, HEX),
    "toolu_01" + noise(22),
    "chatcmpl-" + noise(29),
    "price_" + noise(24),
    "1" * 60,
    "abcdefg" * 10,
]


def test_names_in_code_stay(redact: Redactor) -> None:
    names = [name for line in NAMES for name in line.split()]
    said = [
        f"{before} {name}{after}" for name in names for before, after in (("In func", ", compare"), ("函数", "() 里"))
    ]

    assert [redact(text) for text in said] == said


def test_words_hashes_and_ids_stay(redact: Redactor) -> None:
    said = [f"see {text} there" for text in NOT_DRAWN + PUBLIC]
    assert [redact(text) for text in said] == said

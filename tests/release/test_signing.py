"""Keys that sign releases: made, kept and refused; signatures that are put on and replaced."""

from __future__ import annotations

import builtins
import json
import shutil
import subprocess

import pytest

import hedgerow
from hedgerow.errors import MissingExtraError, ReleaseError
from hedgerow.release.signing_keys import KeyFileError, make_key_pair, read_checker, read_signer


@pytest.fixture
def folder(release, tmp_path):
    release.write(tmp_path / "release")
    return tmp_path / "release"


@pytest.fixture
def pair(tmp_path):
    return make_key_pair(tmp_path / "maker.key")


def test_a_key_pair_is_private_and_named_by_its_public_part(pair):
    private, public, named = pair
    assert (private.stat().st_mode & 0o777, public.stat().st_mode & 0o777) == (0o600, 0o644)
    assert read_signer(private).key_sha256 == read_checker(public).key_sha256 == named
    assert "PRIVATE" not in public.read_text()
    assert repr(read_signer(private)) == "Signer()"


@pytest.mark.parametrize("taken", ["maker.key", "maker.key.pub"])
def test_no_key_is_ever_replaced(tmp_path, taken):
    (tmp_path / taken).write_text("precious")
    with pytest.raises(KeyFileError, match="exists already"):
        make_key_pair(tmp_path / "maker.key")
    assert [path.name for path in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken).read_text() == "precious"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_private_key_that_others_may_read_is_refused(pair, mode):
    pair[0].chmod(mode)
    with pytest.raises(KeyFileError, match="accessible to other users"):
        read_signer(pair[0])


def test_the_two_halves_of_a_pair_are_not_mixed_up(pair):
    private, public, _ = pair
    with pytest.raises(KeyFileError, match="private key, and checking"):
        read_checker(private)
    public.chmod(0o600)
    with pytest.raises(KeyFileError, match="public key, and signing"):
        read_signer(public)


@pytest.mark.parametrize("content", [b"", b"hello", b"-----BEGIN PRIVATE KEY-----\nAAAA\n"])
def test_what_is_no_key_is_refused(tmp_path, content):
    path = tmp_path / "key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match="not an Ed25519 key"):
        read_signer(path)
    with pytest.raises(KeyFileError):
        read_checker(path)
    with pytest.raises(KeyFileError, match="cannot be read"):
        read_checker(tmp_path / "nowhere")
    with pytest.raises(KeyFileError, match="cannot be read"):
        read_checker(tmp_path)


def test_keys_of_other_kinds_and_locked_ones_are_refused(tmp_path):
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    def write(key, lock):
        path = tmp_path / "key"
        path.write_bytes(key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, lock))
        path.chmod(0o600)
        return path

    with pytest.raises(KeyFileError, match="not an Ed25519 key"):
        read_signer(write(ec.generate_private_key(ec.SECP256R1()), form.NoEncryption()))
    locked = form.BestAvailableEncryption(b"secret")
    with pytest.raises(KeyFileError, match="passphrase"):
        read_signer(write(ed25519.Ed25519PrivateKey.generate(), locked))


def test_signing_changes_nothing_but_adds_the_signature(folder, pair):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert hedgerow.sign(folder, key=pair[0]) == pair[2]
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert after.keys() - before.keys() == {"signature.json"}
    assert {name: after[name] for name in before} == before
    assert hedgerow.verify(folder, key=pair[1]).maker == "proved"
    assert [path.name for path in folder.parent.glob(".*")] == []
    hedgerow.sign(folder, key=pair[0])  # once more is nothing new


def test_a_signature_by_another_key_is_replaced_by_force_only(folder, pair, tmp_path):
    second = make_key_pair(tmp_path / "second.key")
    hedgerow.sign(folder, key=pair[0])
    with pytest.raises(ReleaseError, match="signed already"):
        hedgerow.sign(folder, key=second[0])
    assert hedgerow.verify(folder, key=pair[1]).passed
    hedgerow.sign(folder, key=second[0], force=True)
    assert hedgerow.verify(folder, key=second[1]).passed


def test_a_damaged_release_is_not_signed(folder, pair):
    (folder / "release.csv").write_text("age\n1\n")
    with pytest.raises(ReleaseError, match="not the file"):
        hedgerow.sign(folder, key=pair[0])
    assert not (folder / "signature.json").exists()


def test_a_damaged_signature_is_replaced_by_force(folder, pair):
    hedgerow.sign(folder, key=pair[0])
    (folder / "signature.json").write_text("{}")
    with pytest.raises(ReleaseError):
        hedgerow.sign(folder, key=pair[0])
    hedgerow.sign(folder, key=pair[0], force=True)
    assert hedgerow.verify(folder, key=pair[1]).passed


def test_other_tools_read_the_keys_and_the_signature(folder, pair, tmp_path):
    """The exact bytes of certificate.json are signed, so that OpenSSL can say so as well."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl")
    hedgerow.sign(folder, key=pair[0])
    stored = json.loads((folder / "signature.json").read_text(encoding="utf-8"))
    (tmp_path / "bytes").write_bytes(bytes.fromhex(stored["signature"]))
    asked = ["-verify", "-pubin", "-inkey", str(pair[1]), "-rawin", "-in"]
    files = [str(folder / "certificate.json"), "-sigfile", str(tmp_path / "bytes")]
    told = subprocess.run([openssl, "pkeyutl", *asked, *files], capture_output=True, check=False)
    assert told.returncode == 0, told.stderr


def test_without_the_library_verify_works_and_signing_says_what_to_install(
    folder, pair, monkeypatch
):
    there = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("cryptography"):
            raise ImportError(name)
        return there(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert hedgerow.verify(folder).intact
    with pytest.raises(MissingExtraError, match=r"hedgerow\[sign\]") as missing:
        hedgerow.verify(folder, key=pair[1])
    assert missing.value.extra == "sign"
    with pytest.raises(MissingExtraError):
        hedgerow.sign(folder, key=pair[0])

"""Key pairs for signing releases: Ed25519, in PEM files that other tools can read.

The publisher keeps the private key in a file that nobody else may read. Recipients must get the
public key by another way than the release: whoever can change a folder can put a key in it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

_MOST_BYTES = 1 << 16
_MAKE = "Make a key pair with: hedgerow signing-key FILE"


class KeyFileError(InputError):
    """A key cannot be read, or its file is not safe to use."""


@dataclass(frozen=True, kw_only=True)
class Signer:
    """A private key for signing, which is never shown."""

    key: Ed25519PrivateKey = field(repr=False)

    @property
    def key_sha256(self) -> str:
        """SHA-256 that identifies the key pair."""
        return _named(self.key.public_key())

    def sign(self, content: bytes) -> bytes:
        """Return the signature of these exact bytes."""
        return self.key.sign(content)


@dataclass(frozen=True, kw_only=True)
class Checker:
    """A public key, which checks that the private one made a signature."""

    key: Ed25519PublicKey

    @property
    def key_sha256(self) -> str:
        """SHA-256 that identifies the key pair."""
        return _named(self.key)

    def signed(self, content: bytes, signature: bytes) -> bool:
        """Return whether the private key made this signature of exactly these bytes."""
        from cryptography.exceptions import InvalidSignature

        try:
            self.key.verify(signature, content)
        except InvalidSignature:
            return False
        return True


def make_key_pair(private: str | os.PathLike[str]) -> tuple[Path, Path, str]:
    """Write a new key pair: the private key to a file of mode 0600, the public one to FILE.pub.

    Return both files and the digest that identifies the pair. Existing files are not replaced.
    """
    from_library = _library()
    path = Path(private)
    public = path.with_name(f"{path.name}.pub")
    for each in (path, public):
        if os.path.lexists(each):
            raise KeyFileError("The file exists already.", where=str(each), do="Give another name.")
    key = from_library.Ed25519PrivateKey.generate()
    pem = from_library.serialization.Encoding.PEM
    secret = key.private_bytes(
        pem,
        from_library.serialization.PrivateFormat.PKCS8,
        from_library.serialization.NoEncryption(),
    )
    shown = key.public_key().public_bytes(
        pem, from_library.serialization.PublicFormat.SubjectPublicKeyInfo
    )
    _create(path, secret, 0o600)
    try:
        _create(public, shown, 0o644)
    except BaseException:
        path.unlink()
        raise
    return path, public, _named(key.public_key())


def read_signer(path: str | os.PathLike[str]) -> Signer:
    """Return the private key in a file that only its owner may read."""
    from_library = _library()
    content = _content(Path(path), private=True)
    if b"PUBLIC KEY" in content:
        raise KeyFileError(
            "This is a public key, and signing needs the private one.", where=str(path), do=_MAKE
        )
    try:
        key = from_library.serialization.load_pem_private_key(content, password=None)
    except TypeError as error:
        raise KeyFileError(
            "The key is protected by a passphrase.",
            where=str(path),
            do="Give a key without one, in a file of your own with mode 0600.",
        ) from error
    except (ValueError, from_library.UnsupportedAlgorithm) as error:
        raise _no_key(path) from error
    if not isinstance(key, from_library.Ed25519PrivateKey):
        raise _no_key(path)
    return Signer(key=key)


def read_checker(path: str | os.PathLike[str]) -> Checker:
    """Return the public key in a file."""
    from_library = _library()
    content = _content(Path(path), private=False)
    if b"PRIVATE KEY" in content:
        raise KeyFileError(
            "This is a private key, and checking needs the public one.",
            where=str(path),
            do="Give the file that ends in .pub, and keep the private one secret.",
        )
    try:
        key = from_library.serialization.load_pem_public_key(content)
    except (ValueError, from_library.UnsupportedAlgorithm) as error:
        raise _no_key(path) from error
    if not isinstance(key, from_library.Ed25519PublicKey):
        raise _no_key(path)
    return Checker(key=key)


def _no_key(path: str | os.PathLike[str]) -> KeyFileError:
    return KeyFileError("This is not an Ed25519 key in a PEM file.", where=str(path), do=_MAKE)


def _content(path: Path, *, private: bool) -> bytes:
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if private:
                _refuse_open(path, found)
            return file.read(_MOST_BYTES)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise KeyFileError(
            f"The key cannot be read: {reason}.", where=str(path), do=_MAKE
        ) from error


def _refuse_open(path: Path, found: os.stat_result) -> None:
    """Refuse a private key that belongs to another user or that others may read."""
    if not hasattr(os, "geteuid"):
        return
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise KeyFileError(
            "The private key file is accessible to other users.",
            where=str(path),
            do=f"Run: chmod 600 {path}. If somebody may have read it, make another key.",
        )


def _create(path: Path, content: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        descriptor = os.open(path, flags, mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            path.chmod(mode)
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise KeyFileError(
            f"The key cannot be written: {reason}.",
            where=str(path),
            do="Give a file in a folder that you can write to.",
        ) from error


def _named(key: Ed25519PublicKey) -> str:
    """Return the SHA-256 of a public key, as `openssl pkey -pubin -outform DER` writes it."""
    serialization = _library().serialization
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return hashlib.sha256(key.public_bytes(serialization.Encoding.DER, form)).hexdigest()


@dataclass(frozen=True, kw_only=True)
class _Library:
    """The parts of the library, an optional dependency, that are used here."""

    serialization: Any
    UnsupportedAlgorithm: Any
    Ed25519PrivateKey: Any
    Ed25519PublicKey: Any


def _library() -> _Library:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise MissingExtraError("Signing, and checking a signature,", extra="sign") from error
    return _Library(
        serialization=serialization,
        UnsupportedAlgorithm=UnsupportedAlgorithm,
        Ed25519PrivateKey=ed25519.Ed25519PrivateKey,
        Ed25519PublicKey=ed25519.Ed25519PublicKey,
    )

"""Sign a release folder that has been written."""

from __future__ import annotations

import os
from pathlib import Path

from hedgerow.errors import ReleaseError
from hedgerow.release.inventory import small_content
from hedgerow.release.leftovers import CERTIFICATE
from hedgerow.release.signature import SIGNATURE, signature_in, signature_text, write_signature
from hedgerow.release.signing_keys import Signer, read_signer
from hedgerow.release.verify import check_intact


def sign(
    folder: str | os.PathLike[str], *, key: str | os.PathLike[str], force: bool = False
) -> str:
    """Sign a release folder with a private key.

    Parameters
    ----------
    folder : path
        An intact release folder. `signature.json` is added; no other file is changed.
    key : path
        File of the private key, mode 0600, as `hedgerow signing-key` makes it.
    force : bool, default=False
        Replace a signature by another key.

    Returns
    -------
    str
        SHA-256 of the public key.

    Raises
    ------
    ReleaseError
        If the folder is not an intact release, or has a signature by another key.
    KeyFileError
        If the key cannot be used, or its file is accessible to other users.

    Notes
    -----
    Privacy: no confidential data are read. A signature proves who published the release.

    Examples
    --------
    >>> import hedgerow
    >>> import pyarrow as pa
    >>> from tempfile import TemporaryDirectory
    >>> from hedgerow.release.signing_keys import make_key_pair
    >>> plan = {"attributes": {"age": {"numeric": [0, 99]}}, "protects": "records",
    ...         "confirmed": True, "publish": {"method": "hedge", "epsilon": 2}}
    >>> with TemporaryDirectory() as folder:
    ...     out = Path(folder, "release")
    ...     _ = hedgerow.publish(plan, data=pa.table({"age": [20, 70] * 500}), seed=1, out=out)
    ...     private, public, digest = make_key_pair(Path(folder, "hospital.key"))
    ...     sign(out, key=private) == digest, hedgerow.verify(out, key=public).maker
    (True, 'proved')

    """
    signer = read_signer(key)
    path = Path(folder)
    if not path.is_dir():
        raise ReleaseError("This is not a folder.", where=str(path), do="Give a release folder.")
    check_intact(path, but=SIGNATURE if force else None)
    sign_in_place(path, signer, force=force)
    return signer.key_sha256


def sign_in_place(folder: Path, signer: Signer, *, force: bool = False) -> None:
    """Sign an intact folder, unless this key has already signed it."""
    path = folder.resolve()
    if not force and (path / SIGNATURE).exists():
        stored = signature_in((path / SIGNATURE).read_text(encoding="utf-8"))
        if stored.key_sha256 == signer.key_sha256:
            return
        raise ReleaseError(
            f"The release is signed already, by the key {stored.key_sha256}.",
            where=str(folder),
            do="To replace that signature, use: hedgerow sign --force",
        )
    write_signature(path, signature_text(small_content(path / CERTIFICATE), signer))

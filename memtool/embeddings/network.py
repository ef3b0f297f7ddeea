"""A neural network in a folder, run by fastembed: texts in, vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from memtool.embeddings.vectors import unit_vectors
from memtool.errors import ProviderFailed

if TYPE_CHECKING:
    import numpy as np
    from fastembed import TextEmbedding
    from numpy.typing import NDArray

    from memtool.embeddings.model_folder import ModelFolder

OWN_POOLING = ""  # of a model that fastembed knows by name


class Network:
    """The network in *folder*, loaded when it first runs. *pooling* is `mean`, `cls` or `OWN_POOLING`."""

    def __init__(self, folder: ModelFolder, pooling: str) -> None:
        self.folder = folder
        self.pooling = pooling

    def run(self, texts: Sequence[str], *, at_once: int, query: bool = False) -> NDArray[np.float32]:
        """Return one row of length 1 per text; *at_once* of them are padded to the same length and run together.

        Raises:
            ProviderFailed: the files are no network, or not one that makes vectors of tokens.
        """
        model = self._model
        try:
            rows = list((model.query_embed if query else model.passage_embed)(list(texts), batch_size=at_once))
        except Exception as error:  # noqa: BLE001  (onnxruntime and tokenizers raise bare exceptions)
            raise self._broken(error) from None
        return unit_vectors(rows, f"the model '{self.folder.model}'")

    @cached_property
    def _model(self) -> TextEmbedding:
        from memtool.embeddings.quiet import quiet_fastembed

        path = str(self.folder.path)
        with quiet_fastembed():
            from fastembed import TextEmbedding

            name = self._registered() if self.pooling else self.folder.model
            try:
                # Given a path, fastembed asks no network. Without a cache folder it would make a temporary one.
                return TextEmbedding(name, cache_dir=path, specific_model_path=path, local_files_only=True)
            except Exception as error:  # noqa: BLE001  (as above)
                raise self._broken(error) from None

    def _registered(self) -> str:
        # fastembed keeps custom models in a table of the process. The name says all that the entry does, so that
        # one entry does for every folder; the path is given when the model is loaded.
        from fastembed import TextEmbedding
        from fastembed.common.model_description import ModelSource, PoolingType

        name = f"memtool/{self.pooling}/{self.folder.file}"
        if all(known["model"] != name for known in TextEmbedding.list_supported_models()):
            TextEmbedding.add_custom_model(
                model=name,
                pooling=PoolingType.CLS if self.pooling == "cls" else PoolingType.MEAN,
                normalization=True,
                sources=ModelSource(hf=name),  # must not be empty, and is never asked
                dim=0,  # what fastembed would tell those who ask; the vectors themselves are the answer
                model_file=self.folder.file,
            )
        return name

    def _broken(self, error: Exception) -> ProviderFailed:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return ProviderFailed(
            f"the model in '{self.folder.path}' does not work: {reason}",
            hint="Get the model again: delete a downloaded folder, or copy yours anew.",
        )

"""MiniLM's original weights written as an ONNX graph that gives one vector per token."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


OPSET = 17


def export_minilm(folder: Path, target: Path) -> Path:
    """Export ``model.safetensors`` and ``config.json`` of `folder` to `target`; needs torch, transformers and onnx.

    Inputs ``input_ids, attention_mask, token_type_ids`` of shape (batch, tokens), output ``last_hidden_state`` of
    shape (batch, tokens, 384), both axes free: the same signature as the hub's own ``onnx/model.onnx``.
    """
    with warnings.catch_warnings():
        # torch announces the end of this exporter, the tracer remarks on checks of shapes, transformers on itself;
        # the vectors are held against sentence-transformers by a test instead.
        warnings.simplefilter("ignore")
        import torch
        from safetensors.torch import load_file
        from transformers import BertConfig, BertModel

        configuration = BertConfig.from_json_file(str(folder / "config.json"))
        configuration._attn_implementation = "eager"
        model = BertModel(configuration, add_pooling_layer=False)
        state = load_file(folder / "model.safetensors")
        unused = ("pooler.", "embeddings.position_ids")
        model.load_state_dict({name: value for name, value in state.items() if not name.startswith(unused)})
        model.eval()

        class LastHiddenState(torch.nn.Module):  # type: ignore[misc]  # torch has no types here
            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self, ids: object, mask: object, types: object) -> object:
                return self.model(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state

        ids = torch.tensor([[101, 7592, 2088, 102], [101, 7592, 102, 0]])
        inputs = ["input_ids", "attention_mask", "token_type_ids"]
        axes = {0: "batch", 1: "tokens"}
        with torch.no_grad():
            torch.onnx.export(
                LastHiddenState(),
                (ids, (ids > 0).long(), torch.zeros_like(ids)),
                str(target),
                input_names=inputs,
                output_names=["last_hidden_state"],
                dynamic_axes={name: axes for name in [*inputs, "last_hidden_state"]},
                opset_version=OPSET,
                dynamo=False,
            )
    return target

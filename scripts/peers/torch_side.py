"""torch's side of a row: eager, channels-last where there are images, and compiled; each with its own copy of the start."""
import math
import os

import torch
import torch._inductor.config
import torch.nn.functional as F
from torch import nn

from side import BATCHES, Task, serve


def linear(v, name):
    kernel = torch.from_numpy(v[f"{name}/kernel"])
    layer = nn.Linear(*kernel.shape)
    layer.weight.data, layer.bias.data = kernel.T.contiguous(), torch.from_numpy(v[f"{name}/bias"]).clone()
    return layer


def numbered(name, i):
    return name if i == 0 else f"{name}_{i}"


class Dense(nn.Module):
    def __init__(self, v):
        super().__init__()
        self.layers = nn.ModuleList(linear(v, numbered("dense", i)) for i in range(len(v) // 2))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.relu(layer(x))
        return self.layers[-1](x)


class LeNet(nn.Module):
    def __init__(self, v):
        super().__init__()
        self.convolutions = nn.ModuleList(self.convolution(v, numbered("conv", i)) for i in range(2))
        self.hidden, self.output = linear(v, "dense"), linear(v, "dense_1")
        # Ours flattens [height, width, channels], torch [channels, height, width].
        kernel = torch.from_numpy(v["dense/kernel"]).reshape(7, 7, 64, 512).permute(2, 0, 1, 3).reshape(3136, 512)
        self.hidden.weight.data = kernel.T.contiguous()

    @staticmethod
    def convolution(v, name):
        kernel = torch.from_numpy(v[f"{name}/kernel"]).permute(3, 2, 0, 1).contiguous()
        layer = nn.Conv2d(kernel.shape[1], kernel.shape[0], 5, padding=2)
        layer.weight.data, layer.bias.data = kernel, torch.from_numpy(v[f"{name}/bias"]).clone()
        return layer

    def forward(self, x):
        for convolution in self.convolutions:
            x = F.max_pool2d(F.relu(convolution(x)), 2)
        return self.output(F.relu(self.hidden(x.flatten(1))))


class Lstm(nn.Module):
    """nn.LSTM's gates are i, f, g, o with two biases; ours are i, g, f, o with one, and 1 is added to that of f."""

    def __init__(self, v):
        super().__init__()
        self.layers = nn.ModuleList(self.layer(v, numbered("lstm", i)) for i in range(2))
        self.characters = linear(v, "characters")

    @staticmethod
    def layer(v, name):
        kernel, bias = torch.from_numpy(v[f"{name}/kernel"]), torch.from_numpy(v[f"{name}/bias"])
        units = len(bias) // 4
        i, g, f, o = kernel.split(units, 1)
        kernel = torch.cat([i, f, g, o], 1)
        i, g, f, o = bias.split(units)
        layer = nn.LSTM(len(kernel) - units, units, batch_first=True)
        layer.weight_ih_l0.data, layer.weight_hh_l0.data = kernel[:-units].T.contiguous(), kernel[-units:].T.contiguous()
        layer.bias_ih_l0.data, layer.bias_hh_l0.data = torch.cat([i, f + 1, g, o]), torch.zeros(4 * units)
        layer.bias_hh_l0.requires_grad_(False)
        return layer

    def forward(self, x):
        h = F.one_hot(x, 64).float()
        for layer in self.layers:
            h, _ = layer(h)
        return self.characters(h)


class Block(nn.Module):
    def __init__(self, v, name, heads):
        super().__init__()
        self.heads = heads
        parts = [linear(v, f"{name}/attention/{part}") for part in ("query", "key", "value")]
        units = parts[0].in_features
        self.qkv = nn.Linear(units, 3 * units)
        self.qkv.weight.data = torch.cat([part.weight.data for part in parts])
        self.qkv.bias.data = torch.cat([part.bias.data for part in parts])
        self.output = linear(v, f"{name}/attention/output")
        self.first, self.second = nn.LayerNorm(units), nn.LayerNorm(units)  # Initial values are ones and zeros.
        self.wide, self.narrow = linear(v, f"{name}/feed_forward/hidden"), linear(v, f"{name}/feed_forward/output")

    def forward(self, h):
        batch, time, units = h.shape
        q, k, v = (part.view(batch, time, self.heads, -1).transpose(1, 2) for part in self.qkv(self.first(h)).split(units, 2))
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        h = h + self.output(seen.transpose(1, 2).reshape(batch, time, units))
        return h + self.narrow(F.gelu(self.wide(self.second(h)), approximate="tanh"))


class Transformer(nn.Module):
    def __init__(self, v, time):
        super().__init__()
        table = torch.from_numpy(v["embedding/embeddings"])
        self.embedding = nn.Embedding(*table.shape)
        self.embedding.weight.data = table.clone()
        units = table.shape[1]
        angles = torch.arange(time)[:, None] * torch.exp(-math.log(10000.0) * 2 * torch.arange(units // 2) / units)
        self.register_buffer("places", torch.cat([angles.sin(), angles.cos()], 1))
        layers = sum(name.endswith("query/kernel") for name in v)
        self.blocks = nn.ModuleList(Block(v, numbered("block", i), 4) for i in range(layers))
        self.norm, self.characters = nn.LayerNorm(units), linear(v, "characters")

    def forward(self, x):
        h = self.embedding(x) + self.places
        for block in self.blocks:
            h = block(h)
        return self.characters(self.norm(h))


def model(task):
    if task.row.startswith("LeNet"):
        return LeNet(task.variables)
    if task.row.startswith("LSTM"):
        return Lstm(task.variables)
    if task.row.startswith("transformer"):
        return Transformer(task.variables, task.x[0].shape[1])
    return Dense(task.variables)


def variant(task, compiled=False, channels_last=False):
    trained = model(task)
    x = [torch.from_numpy(batch) for batch in task.x]
    x = [batch.long() if batch.dtype == torch.int32 else batch for batch in x]
    y = [torch.from_numpy(batch).long().flatten() for batch in task.y]
    if task.row.startswith("LeNet"):
        x = [batch.permute(0, 3, 1, 2).contiguous() for batch in x]
    if channels_last:
        trained = trained.to(memory_format=torch.channels_last)
        x = [batch.to(memory_format=torch.channels_last) for batch in x]
    parameters = [p for p in trained.parameters() if p.requires_grad]
    if task.rule == "adam":
        rule = torch.optim.Adam(parameters, lr=1e-3, fused=True)
    else:
        rule = torch.optim.SGD(parameters, lr=0.01, momentum=0.9, fused=True)

    def loss_of(x, y):
        logits = trained(x)
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), y)

    forward = torch.compile(loss_of) if compiled else loss_of
    at = 0

    def run(n):
        nonlocal at
        for at in range(at, at + n):
            rule.zero_grad()
            loss = forward(x[at % BATCHES], y[at % BATCHES])
            loss.backward()
            rule.step()
        at += 1
        return loss.detach()

    return run, 1


def main():
    task = Task()
    torch.set_num_threads(task.threads)
    if os.environ.get("ATEN_CPU_CAPABILITY") == "avx2":
        torch._inductor.config.cpp.simdlen = 256  # The compiler looks at the processor, not at the environment.
    variants = {"torch eager": variant(task), "torch compile": variant(task, compiled=True)}
    if task.row.startswith("LeNet"):
        variants["torch channels_last"] = variant(task, channels_last=True)
        variants["torch compile channels_last"] = variant(task, compiled=True, channels_last=True)
    serve(task.steps, {name.replace(" ", "-"): v for name, v in variants.items()})


if __name__ == "__main__":
    main()

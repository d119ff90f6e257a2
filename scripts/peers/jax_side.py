"""JAX's side of a row: one jitted step after the other, and many steps in one lax.scan."""
import math
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

from side import BATCHES, Task, serve


def numbered(name, i):
    return name if i == 0 else f"{name}_{i}"


def linear(v, name, x):
    return x @ v[f"{name}/kernel"] + v[f"{name}/bias"]


def dense(v, x):
    layers = len(v) // 2
    for i in range(layers - 1):
        x = jax.nn.relu(linear(v, numbered("dense", i), x))
    return linear(v, numbered("dense", layers - 1), x)


def lenet(v, x):
    for name in ("conv", "conv_1"):
        x = lax.conv_general_dilated(x, v[f"{name}/kernel"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + v[f"{name}/bias"]
        b, h, w, c = x.shape
        x = jax.nn.relu(x).reshape(b, h // 2, 2, w // 2, 2, c).max((2, 4))  # Faster here than reduce_window.
    return linear(v, "dense_1", jax.nn.relu(linear(v, "dense", x.reshape(len(x), -1))))


def lstm(v, x):
    h = jax.nn.one_hot(x, 64)
    for name in ("lstm", "lstm_1"):
        kernel = v[f"{name}/kernel"]
        units = kernel.shape[1] // 4
        inputs = h @ kernel[:-units] + v[f"{name}/bias"]

        def cell(state, of_x):
            c, y = state
            i, j, f, o = jnp.split(of_x + y @ kernel[-units:], 4, 1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(j)
            y = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (c, y), y

        zeros = jnp.zeros((len(x), units))
        _, h = lax.scan(cell, (zeros, zeros), inputs.swapaxes(0, 1))
        h = h.swapaxes(0, 1)
    return linear(v, "characters", h)


def layer_norm(v, name, h):
    centred = h - h.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * v[f"{name}/gamma"] + v[f"{name}/beta"]


def transformer(v, x, heads=4):
    time, units = x.shape[1], v["embedding/embeddings"].shape[1]
    angles = jnp.arange(time)[:, None] * jnp.exp(-math.log(10000.0) * 2 * jnp.arange(units // 2) / units)
    h = v["embedding/embeddings"][x] + jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], 1)
    mask = jnp.tril(jnp.ones((time, time), bool))
    for i in range(sum(name.endswith("query/kernel") for name in v)):
        block = numbered("block", i)
        normed = layer_norm(v, f"{block}/layer_norm", h)
        q, k, w = (linear(v, f"{block}/attention/{part}", normed).reshape(*x.shape, heads, -1) for part in ("query", "key", "value"))
        scores = jnp.einsum("bthd,bshd->bhts", q, k) / math.sqrt(units // heads)
        seen = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(jnp.where(mask, scores, -1e30)), w)
        h = h + linear(v, f"{block}/attention/output", seen.reshape(h.shape))
        wide = jax.nn.gelu(linear(v, f"{block}/feed_forward/hidden", layer_norm(v, f"{block}/layer_norm_1", h)), approximate=True)
        h = h + linear(v, f"{block}/feed_forward/output", wide)
    return linear(v, "characters", layer_norm(v, "layer_norm", h))


def model(row):
    return {"LeNet": lenet, "LSTM": lstm, "transformer": transformer}.get(row.split()[0], dense)


def mean_loss(forward, v, x, y):
    logits = forward(v, x)
    logits, y = logits.reshape(-1, logits.shape[-1]), y.reshape(-1)
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1).mean()


def begin(variables):
    v = {name: jnp.array(value) for name, value in variables.items()}
    return v, jax.tree.map(jnp.zeros_like, v), jax.tree.map(jnp.zeros_like, v), jnp.float32(0)


def one_step(forward, rule, state, x, y):
    v, m, s, t = state
    loss, g = jax.value_and_grad(partial(mean_loss, forward))(v, x, y)
    t = t + 1
    if rule == "adam":
        rate = 1e-3 * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        s = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, s, g)
        v = jax.tree.map(lambda v, m, s: v - rate * m / (jnp.sqrt(s) + 1e-8), v, m, s)
    else:
        m = jax.tree.map(lambda m, g: 0.9 * m + g, m, g)
        v = jax.tree.map(lambda v, m: v - 0.01 * m, v, m)
    return (v, m, s, t), loss


def stepped(task):
    step = jax.jit(partial(one_step, model(task.row), task.rule), donate_argnums=0)
    state, x, y = begin(task.variables), [jnp.array(b) for b in task.x], [jnp.array(b) for b in task.y]
    at = 0

    def run(n):
        nonlocal state, at
        for _ in range(n):
            state, loss = step(state, x[at % BATCHES], y[at % BATCHES])
            at += 1
        return loss.block_until_ready()

    return run, 1


def scanned(task, passes):
    """Whole passes over the batches in one call. The first steps that are compared end within a pass: `shown` of the last one."""
    step = partial(one_step, model(task.row), task.rule)
    x, y = jnp.stack(task.x), jnp.stack(task.y)

    def over_batches(state, _):
        return lax.scan(lambda state, batch: step(state, *batch), state, (x, y))

    many = jax.jit(lambda state: lax.scan(over_batches, state, length=passes), donate_argnums=0)
    first = jax.jit(lambda state: lax.scan(over_batches, state, length=-(-task.steps // BATCHES)))
    state = begin(task.variables)

    def run(n):
        nonlocal state
        if n == task.steps:
            return first(state)[1].reshape(-1)[n - 1].block_until_ready()
        for _ in range(n // (BATCHES * passes)):
            state, losses = many(state)
        return losses.block_until_ready()[-1, -1]

    return run, BATCHES * passes


def main():
    task = Task()
    small = max(batch.size for batch in task.x) < 1000
    variants = {"jax-jit": stepped(task)}
    if not task.row.startswith("LeNet"):  # Within a loop XLA's convolutions on processors take minutes a pass.
        variants["jax-scan"] = scanned(task, 64 if small else 1)
    serve(task.steps, variants)


if __name__ == "__main__":
    main()

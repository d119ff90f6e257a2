"""torch's side of two replicas: DistributedDataParallel with gloo, two processes that each have half of the rows of a batch.

Usage: ddp_side.py ROW adam 1 STEPS FILE      (as torch_side.py)

The first process answers the driver. The second one hears from it how many steps to make, 0 at the end.
"""
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

from side import BATCHES, Task, serve
from torch_side import model

REPLICAS = 2


def own_rows(batch, rank):
    rows = len(batch) // REPLICAS
    return torch.from_numpy(batch[rank * rows:(rank + 1) * rows].copy())


def training(task, rank):
    """A function that makes n steps and returns the mean loss of the last one."""
    trained = DistributedDataParallel(model(task))
    x = [own_rows(batch, rank) for batch in task.x]
    x = [batch.long() if batch.dtype == torch.int32 else batch for batch in x]
    y = [own_rows(batch, rank).long().flatten() for batch in task.y]
    if task.row.startswith("LeNet"):
        x = [batch.permute(0, 3, 1, 2).contiguous() for batch in x]
    rule = torch.optim.Adam([p for p in trained.parameters() if p.requires_grad], lr=1e-3, fused=True)
    at = 0

    def run(n):
        nonlocal at
        for at in range(at, at + n):
            rule.zero_grad()
            logits = trained(x[at % BATCHES])
            loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), y[at % BATCHES])
            loss.backward()
            rule.step()
        at += 1
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        return mean / REPLICAS

    return run


def live(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    os.sched_setaffinity(0, {rank})
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=REPLICAS)
    task = Task()
    run = training(task, rank)
    wanted = torch.zeros((), dtype=torch.int64)

    def together(n):
        wanted.fill_(n)
        dist.broadcast(wanted, 0)
        return run(n) if n else None

    if rank == 0:
        serve(task.steps, {"torch-DDP": (together, 1)})
        together(0)
    else:
        while True:
            dist.broadcast(wanted, 0)
            if wanted == 0:
                break
            run(int(wanted))
    dist.destroy_process_group()


def main():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    other = processes.get_context("spawn").Process(target=live, args=(1, port), daemon=True)
    other.start()
    live(0, port)
    other.join()


if __name__ == "__main__":
    main()

import { expect, test } from 'vitest'
import { valuesOf } from './runs.ts'

test.each([
  ['python -m paddle.distributed.launch --gpus 0,1,2,3 tools/train.py --epochs 3', 'paddlepaddle', 4],
  ['python -m paddle.distributed.launch tools/train.py --epochs 3', 'paddlepaddle', 8],
  ['fleetrun --log_dir log train.py --epochs 3', 'paddlepaddle', 8],
  ['colossalai run --nproc_per_node 8 --master_port 29505 train.py --epochs 3', 'colossal-ai', 8],
  ['colossalai run train.py --epochs 3', 'colossal-ai', undefined],
  ['composer train.py --epochs 3', 'pytorch', 8],
  ['python examples/xla_spawn.py --num_cores 8 train.py --epochs 3', 'pytorch', 8],
  ['python gaudi_spawn.py --world_size 4 --use_deepspeed train.py --epochs 3', 'pytorch', 4],
])('%s', (script, framework, processes) => {
  const read = valuesOf(script, { gpus: 8 })
  expect([read['framework'], read['processes'], read['epochs']]).toEqual([framework, processes, 3])
})

test('where other machines are told by a list of hosts, nobody counts the processes', () => {
  const script = 'colossalai run --nproc_per_node 8 --hostfile hosts train.py --epochs 3'
  expect(valuesOf(script, { nodes: 2, gpus: 8 })['processes']).toBeUndefined()
})

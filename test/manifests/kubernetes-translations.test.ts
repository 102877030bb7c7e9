import { describe, expect, test } from 'vitest'
import { InputError } from '../../src/errors.ts'
import { gpusAtOnce } from '../../src/gpus-in-use.ts'
import type { Job } from '../../src/job.ts'
import { manifestOf } from '../../src/manifest.ts'
import { readJobs, retarget } from '../../src/manifests/index.ts'

function jobs(text: string): readonly Job[] {
  return readJobs(manifestOf('job.yaml', Buffer.from(text)))
}

function onlyJob(text: string): Job {
  const [job, ...others] = jobs(text)
  if (job === undefined || others.length > 0) throw new Error('one job is expected')
  return job
}

/** Name, pods, GPUs of one, runs and runs at one time of every role. */
function shape(job: Job): readonly (readonly unknown[])[] {
  return job.roles.map(({ name, replicas, gpusPerReplica, tasks, concurrentTasks }) => [
    name,
    replicas.value,
    gpusPerReplica.value,
    tasks,
    concurrentTasks,
  ])
}

function codes(job: Job): readonly string[] {
  return job.warnings.map(({ code }) => code)
}

const template = (name: string, gpus: number | string, more = '') =>
  `  - name: ${name}\n    ${more}\n    container: {image: x, command: [python, ${name}.py], resources: {limits: {nvidia.com/gpu: ${gpus}}}}\n`

const workflow = (spec: string, templates: string, kind = 'Workflow') => `apiVersion: argoproj.io/v1alpha1
kind: ${kind}
metadata: {name: w}
spec:
  entrypoint: main
${spec}
  templates:
${templates}`

describe('an Argo workflow holds the GPUs of what runs at one time', () => {
  test('steps take turns, what stands in one step does not', () => {
    const job = onlyJob(
      workflow(
        '',
        `  - name: main
    steps:
    - [{name: a, template: small}, {name: b, template: small}]
    - [{name: c, template: large}]
${template('small', 2)}${template('large', 3)}`,
      ),
    )
    expect(shape(job)).toEqual([
      ['small', 1, 2, 2, 2],
      ['large', 1, 3, 1, 1],
    ])
    expect(gpusAtOnce(job)).toBe(4)
  })

  test('of a graph, what does not wait for each other', () => {
    const job = onlyJob(
      workflow(
        '',
        `  - name: main
    dag:
      tasks:
      - {name: a, template: one}
      - {name: b, template: four, dependencies: [a]}
      - {name: c, template: two, depends: a.Succeeded}
      - {name: d, template: five, depends: b && c}
${template('one', 1)}${template('two', 2)}${template('four', 4)}${template('five', 5)}`,
      ),
    )
    expect(gpusAtOnce(job)).toBe(6)
  })

  test('parallelism of the workflow and of a template bound it', () => {
    const fan = (spec: string, more: string) =>
      onlyJob(
        workflow(
          spec,
          `  - name: main
    ${more}
    steps:
    - [{name: t, template: train, withSequence: {count: 10}}]
${template('train', 2)}`,
        ),
      )
    expect(shape(fan('', ''))).toEqual([['train', 1, 2, 10, 10]])
    expect(shape(fan('  parallelism: 3', ''))).toEqual([['train', 1, 2, 10, 3]])
    expect(shape(fan('', 'parallelism: 4'))).toEqual([['train', 1, 2, 10, 4]])
  })

  test('one limit bounds all turns together', () => {
    const job = onlyJob(
      workflow(
        '  activeDeadlineSeconds: 3600',
        `  - name: main\n    steps: [[{name: a, template: a}], [{name: b, template: b}]]\n${template('a', 2)}${template('b', 8)}`,
      ),
    )
    expect(job.turns?.limitSeconds).toBe(3600)
    expect(job.roles.map(role => role.timeLimitSeconds?.value)).toEqual([3600, 3600])
    expect(gpusAtOnce(job)).toBe(8)
  })
})

describe('fan-out', () => {
  const fan = (how: string) =>
    shape(
      onlyJob(
        workflow('', `  - name: main\n    steps: [[{name: t, template: train, ${how}}]]\n${template('train', 1)}`),
      ),
    )[0]?.slice(3)

  test.each([
    ['withItems: [a, b, c]', [3, 3]],
    ['withSequence: {start: "5", end: "2"}', [4, 4]],
    ['withSequence: {count: "100000"}', [100_000, 100_000]],
    [`withParam: '[{"a": 1}, {"a": 2}]'`, [2, 2]],
    ['when: "1 == 1"', [1, 1]],
  ])('%s', (how, expected) => {
    expect(fan(how)).toEqual(expected)
  })

  test('what only another step knows is not guessed', () => {
    const job = onlyJob(
      workflow(
        '',
        `  - name: main\n    steps: [[{name: t, template: train, withParam: "{{steps.gen.outputs.result}}"}]]\n${template('train', 1)}`,
      ),
    )
    expect(shape(job)).toEqual([['train', 1, 1, 1, 1]])
    expect(codes(job)).toContain('gpu-count-unknown')
  })

  test('a step whose condition cannot hold does not run', () => {
    const job = onlyJob(
      workflow(
        '  arguments: {parameters: [{name: tune, value: "false"}]}',
        `  - name: main
    steps:
    - [{name: a, template: train}, {name: b, template: tune, when: "{{workflow.parameters.tune}} == true"}]
${template('train', 1)}${template('tune', 8)}`,
      ),
    )
    expect(shape(job)).toEqual([['train', 1, 1, 1, 1]])
  })
})

describe('parameters', () => {
  test('fill in amounts, labels and commands; what differs from run to run stays open', () => {
    const job = onlyJob(
      workflow(
        '  arguments: {parameters: [{name: gpus, value: 4}, {name: gpu, value: NVIDIA-L4}]}',
        `  - name: main
    steps:
    - - name: t
        template: train
        arguments: {parameters: [{name: lr, value: "{{item}}"}, {name: epochs, value: 3}]}
        withItems: [0.1, 0.2]
  - name: train
    inputs: {parameters: [{name: lr}, {name: epochs}]}
    nodeSelector: {nvidia.com/gpu.product: "{{workflow.parameters.gpu}}"}
    container:
      image: x
      command: [python, train.py, "--epochs={{inputs.parameters.epochs}}", "--lr={{inputs.parameters.lr}}"]
      resources: {limits: {nvidia.com/gpu: "{{workflow.parameters.gpus}}"}}
`,
      ),
    )
    expect(shape(job)).toEqual([['train', 1, 4, 2, 2]])
    expect(job.roles[0]?.gpuType.names.map(name => name.value)).toEqual(['NVIDIA-L4'])
    expect(job.roles[0]?.commandLines[0]?.arguments.map(word => word.text)).toEqual(['--epochs=3', undefined])
  })

  test('an amount without a value has no figures', () => {
    const text = workflow('', template('main', '"{{workflow.parameters.gpus}}"'))
    expect(() => jobs(text)).toThrow(InputError)
    expect(() => jobs(text)).toThrow(/\{\{workflow\.parameters\.gpus\}\}/)
  })

  test('runs of one template with other GPUs are roles of their own', () => {
    const job = onlyJob(
      workflow(
        '',
        `  - name: main
    steps:
    - [{name: a, template: train, arguments: {parameters: [{name: size, value: 1}]}}]
    - [{name: b, template: train, arguments: {parameters: [{name: size, value: 8}]}}]
${template('train', '"{{inputs.parameters.size}}"', 'inputs: {parameters: [{name: size}]}')}`,
      ),
    )
    expect(shape(job)).toEqual([
      ['train (a)', 1, 1, 1, 1],
      ['train (b)', 1, 8, 1, 1],
    ])
    expect(gpusAtOnce(job)).toBe(8)
  })
})

test('a template that calls itself ends', () => {
  const job = onlyJob(
    workflow(
      '',
      `  - name: main\n    steps: [[{name: t, template: train}], [{name: again, template: main}]]\n${template('train', 1)}`,
    ),
  )
  expect(shape(job)).toEqual([['train', 1, 1, 1, 1]])
  expect(job.warnings.map(({ text }) => text)).toContainEqual(expect.stringContaining('template main calls itself'))
})

test('a scheduled workflow is made from a template of the file, and repeats what fails', () => {
  const job = onlyJob(`apiVersion: argoproj.io/v1alpha1
kind: CronWorkflow
metadata: {name: nightly}
spec: {schedules: ["0 3 * * *", "0 4 * * 6"], workflowSpec: {workflowTemplateRef: {name: w}}}
---
${workflow('', template('main', 2, 'retryStrategy: {limit: "3"}'), 'WorkflowTemplate')}`)
  expect([job.kind, shape(job)]).toEqual(['CronWorkflow', [['main', 1, 2, 1, 1]]])
  expect(codes(job)).toEqual(expect.arrayContaining(['recurring', 'retries-multiply-cost']))
  expect(job.warnings.find(({ code }) => code === 'recurring')?.text).toContain('0 3 * * * and 0 4 * * 6')
})

test('a manifest that a step creates is a job of its own, with the lines of the file', () => {
  const [job, ...others] = jobs(
    workflow(
      '',
      `  - name: main
    resource:
      action: create
      manifest: |
        apiVersion: batch/v1
        kind: Job
        metadata: {generateName: train-}
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: x, resources: {limits: {nvidia.com/gpu: 2}}}]}}}
`,
    ),
  )
  expect(others).toEqual([])
  expect([job?.kind, job?.roles[0]?.gpuCount.value, job?.place.line]).toEqual(['Job', 2, 13])
})

test('a manifest that a step creates is read as far as its figures are known', () => {
  const creating = (gpus: string, name: string) =>
    workflow(
      '',
      `  - name: main
    inputs: {parameters: [{name: n}]}
    resource:
      action: create
      manifest: |
        apiVersion: batch/v1
        kind: Job
        metadata: {name: ${name}}
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: x, args: ["{{inputs.parameters.n}}"], resources: {limits: {nvidia.com/gpu: ${gpus}}}}]}}}
${template('beside', 1)}`,
    )
      .replace('entrypoint: main', 'entrypoint: all')
      .concat(`  - name: all
    steps: [[{name: a, template: main}], [{name: b, template: beside}]]
`)
  const sizes = (text: string) => jobs(text).map(job => [job.kind, job.name, job.roles[0]?.gpuCount.value])
  expect(sizes(creating('2', 'train-{{workflow.uid}}'))).toEqual([
    ['Workflow', 'w', 1],
    ['Job', 'train-{{workflow.uid}}', 2],
  ])
  const open = jobs(creating('{{inputs.parameters.n}}', 'train'))
  expect(open.map(({ kind }) => kind)).toEqual(['Workflow'])
  expect(open[0]?.warnings.filter(({ code }) => code === 'unresolved-template').map(({ text }) => text)).toEqual([
    expect.stringContaining('{{inputs.parameters.n}}'),
  ])
})

describe('SparkApplication', () => {
  const spark = (executor: string, more = '', kind = 'SparkApplication') => `apiVersion: sparkoperator.k8s.io/v1beta2
kind: ${kind}
metadata: {name: s}
spec:
  mainApplicationFile: local:///app/etl.py
  driver: {cores: 2, memory: 8g}
  executor: {cores: 8, instances: 4, nodeSelector: {cloud.google.com/gke-accelerator: nvidia-tesla-t4}${executor}}
${more}`

  test('GPUs of the executors stand in a field or in Spark’s settings', () => {
    const field = spark(', gpu: {name: amd.com/gpu, quantity: 2}')
    const settings = spark('', '  sparkConf: {"spark.executor.resource.gpu.amount": "2"}')
    for (const text of [field, settings]) {
      expect(shape(onlyJob(text))).toEqual([
        ['driver', 1, 0, 1, 1],
        ['executor', 4, 2, 1, 1],
      ])
    }
    const [, executor] = onlyJob(field).roles
    expect([executor?.gpuVendor, executor?.cpusPerReplica?.value, executor?.gpuType.names[0]?.value]).toEqual([
      'AMD',
      8,
      'nvidia-tesla-t4',
    ])
  })

  test('executors that come and go, retries, and a schedule around it', () => {
    const gpu = ', gpu: {name: nvidia.com/gpu, quantity: 1}'
    const scaled = '  dynamicAllocation: {enabled: true, initialExecutors: 1, minExecutors: 1, maxExecutors: 6}\n'
    const policy = '  restartPolicy: {type: OnFailure, onFailureRetries: 2}\n'
    const job = onlyJob(spark(gpu, scaled + policy))
    expect([job.roles[1]?.replicas.value, job.roles[1]?.replicaRange]).toEqual([1, { smallest: 1, largest: 6 }])
    expect(codes(job)).toEqual(expect.arrayContaining(['autoscaling-range', 'retries-multiply-cost', 'no-time-limit']))
    const [head = '', spec = ''] = spark(gpu).split('spec:\n')
    const scheduled = `${head.replace('SparkApplication', 'ScheduledSparkApplication')}spec:\n  schedule: "@daily"\n  template:\n${spec.replace(/^ {2}/gm, '    ')}`
    expect(shape(onlyJob(scheduled))[1]).toEqual(['executor', 4, 1, 1, 1])
    expect(codes(onlyJob(scheduled))).toContain('recurring')
  })
})

describe('services', () => {
  const cases: readonly [string, string, readonly (readonly unknown[])[], object | undefined][] = [
    [
      'KServe: a model, its runtime in the same file',
      `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: s, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec: {predictor: {minReplicas: 2, maxReplicas: 5, model: {modelFormat: {name: vllm}, runtime: r}}}
---
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: r}
spec: {containers: [{name: kserve-container, image: v, resources: {limits: {nvidia.com/gpu: 4}}}]}`,
      [['predictor', 2, 4, 1, 1]],
      { smallest: 2, largest: 5 },
    ],
    [
      'KServe: several nodes serve one model',
      `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: s}
spec: {predictor: {model: {modelFormat: {name: huggingface}, resources: {limits: {nvidia.com/gpu: 4}}}, workerSpec: {pipelineParallelSize: 3, tensorParallelSize: 4, containers: [{name: worker-container, resources: {limits: {nvidia.com/gpu: 4}, requests: {nvidia.com/gpu: 4}}}]}}}`,
      [
        ['predictor', 1, 4, 1, 1],
        ['worker', 2, 4, 1, 1],
      ],
      undefined,
    ],
    [
      'KServe: groups of data-parallel pods',
      `apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
metadata: {name: s}
spec:
  model: {uri: hf://a/b}
  replicas: 2
  parallelism: {data: 32, dataLocal: 8}
  template: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: 8}}}]}
  worker: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: 8}}}]}`,
      [
        ['serving', 2, 8, 1, 1],
        ['serving worker', 6, 8, 1, 1],
      ],
      undefined,
    ],
    [
      'Knative, in the older spelling',
      `apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: s}
spec: {template: {metadata: {annotations: {autoscaling.knative.dev/minScale: "0", autoscaling.knative.dev/maxScale: "3"}}, spec: {containers: [{image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}`,
      [['service', 1, 1, 1, 1]],
      { smallest: 0, largest: 3 },
    ],
    [
      'Dynamo, services by name over several nodes',
      `apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: s}
spec:
  services:
    Frontend: {replicas: 1, extraPodSpec: {mainContainer: {image: x}}}
    Decode: {replicas: 2, multinode: {nodeCount: 2}, resources: {limits: {gpu: "8"}}, extraPodSpec: {mainContainer: {image: x}}}`,
      [
        ['Frontend', 1, 0, 1, 1],
        ['Decode', 4, 8, 1, 1],
      ],
      undefined,
    ],
    [
      'Dynamo, components with pod templates',
      `apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: s}
spec: {components: [{name: Worker, replicas: 2, podTemplate: {spec: {containers: [{name: main, image: x, resources: {limits: {nvidia.com/gpu: 4}}}]}}}]}`,
      [['Worker', 2, 4, 1, 1]],
      undefined,
    ],
    [
      'NIM',
      `apiVersion: apps.nvidia.com/v1alpha1
kind: NIMService
metadata: {name: s}
spec: {image: {repository: nvcr.io/nim/a, tag: 1.0.3}, scale: {enabled: true, hpa: {minReplicas: 1, maxReplicas: 4}}, resources: {limits: {nvidia.com/gpu: 2}}}`,
      [['nim', 1, 2, 1, 1]],
      { smallest: 1, largest: 4 },
    ],
    [
      'Seldon',
      `apiVersion: machinelearning.seldon.io/v1
kind: SeldonDeployment
metadata: {name: s}
spec: {predictors: [{name: p, replicas: 3, graph: {name: c}, componentSpecs: [{spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}]}]}`,
      [['p', 3, 1, 1, 1]],
      undefined,
    ],
  ]

  test.each(cases)('%s', (_, text, roles, range) => {
    const job = onlyJob(text)
    expect(shape(job)).toEqual(roles)
    expect(job.roles[0]?.replicaRange).toEqual(range)
    expect(job.endless).toBe(true)
    expect(codes(job)).toContain('long-running-service')
    expect(codes(job)).not.toContain('scheduler-will-refuse')
  })
})

describe('other GPUs', () => {
  const target = { replicas: 1, gpusPerReplica: 2, nodeSelector: { 'nvidia.com/gpu.product': 'NVIDIA-L4' } }
  const change = (text: string) => retarget(manifestOf('job.yaml', Buffer.from(text)), target)

  test('are written where the pod stands, and nowhere else', () => {
    const service = `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: s}
spec:
  predictor: # kept
    nodeSelector:
      nvidia.com/gpu.product: Tesla-T4
    sklearn:
      resources:
        limits: {nvidia.com/gpu: 1}
`
    expect(change(service)).toBe(
      service.replace('Tesla-T4', 'NVIDIA-L4').replace('nvidia.com/gpu: 1', 'nvidia.com/gpu: 2'),
    )
  })

  test('are refused where a parameter or several numbers make up what is asked for', () => {
    const text = workflow(
      '  arguments: {parameters: [{name: gpus, value: 4}]}',
      template('main', '"{{workflow.parameters.gpus}}"'),
    )
    expect(() => change(text)).toThrow(/put together from parameters/)
  })
})

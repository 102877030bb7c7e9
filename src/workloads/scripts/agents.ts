import type { KnownScript } from './known-script.ts'

/** Reinforcement learning: a sample is one step of an environment, and an update learns from many of them. */
export const agentScripts: readonly KnownScript[] = [
  {
    framework: 'cleanrl',
    program:
      /(^|\/)(cleanrl\/\w+|(ppo|dqn|sac|td3|ddpg|c51|ppg|qdagger|rpo|rainbow)_\w+|ppo|dqn|sac|td3|ddpg|c51)\.py$/,
    own: { flags: ['total-timesteps'], least: 1 },
    table: {},
    wholeRun: { flags: ['total-timesteps'], samples: 1 },
  },
  {
    framework: 'stable-baselines3',
    program: /^rl_zoo3\.train$|(^|\/)(rl_zoo3\/)?train\.py$/,
    own: { flags: ['algo', 'env'], least: 2 },
    table: {},
    wholeRun: { flags: ['n', 'n-timesteps'], samples: 1 },
  },
  {
    framework: 'isaac-lab',
    program: /(^|\/)(rsl_rl|rl_games|skrl|sb3|reinforcement_learning)\/(\w+\/)?train\.py$|(^|\/)isaaclab\.sh$/,
    own: { flags: ['task'], least: 1 },
    table: { steps: ['max-iterations', 'agent.max-iterations'] },
  },
  {
    framework: 'isaacgym',
    program: /(^|\/)train\.py$/,
    own: { flags: ['task', 'num-envs', 'max-iterations', 'headless', 'sim-device', 'rl-device'], least: 2 },
    table: { steps: ['max-iterations', 'train.params.config.max-epochs'] },
  },
]

import * as z from 'zod'
import { policyRules } from './finding.ts'
import { isDay } from './units.ts'

const Example = z
  .strictObject({
    name: z.string().min(1),
    manifest: z.string().min(1).optional().describe('Text of a batch script or of Kubernetes YAML'),
    file: z.string().min(1).optional().describe('Or the file it is in, from the folder of this one'),
    path: z.string().min(1).optional().describe('Path in the repository that it stands for'),
    today: z.string().refine(isDay, 'a day such as 2026-12-31 is expected').optional(),
    before: z
      .number()
      .nonnegative()
      .optional()
      .describe('What the job costs in the base revision, in the currency of the policy; 0 = it is new'),
    expect: z
      .partialRecord(z.enum([...policyRules, 'expired-exemption']), z.enum(['warn', 'deny', 'exempt']))
      .describe('What each rule must find; a rule that is not named must find nothing'),
  })
  .refine(({ manifest, file }) => (manifest === undefined) !== (file === undefined), 'manifest or file is expected')

/** Examples of a policy: jobs, and what it must find in them. */
export const PolicyExamples = z.strictObject({ examples: z.array(Example).min(1) })
export type PolicyExamples = z.infer<typeof PolicyExamples>

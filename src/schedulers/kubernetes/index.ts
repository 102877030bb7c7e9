import type { Scheduler } from '../scheduler.ts'
import { lookAfter } from './acceptance.ts'
import { annotate, readAccepted } from './accepted.ts'
import { refuseOtherManifests } from './options.ts'
import { readContext, rehearse } from './rehearsal.ts'

/** `kubectl create [options] -f FILE`, or the manifest on standard input. */
export const kubernetes: Scheduler = {
  name: 'kubernetes',
  title: 'Kubernetes',
  whenMissing: 'install kubectl: https://kubernetes.io/docs/tasks/tools/',
  whereToLook: 'kubectl get -o yaml shows what the cluster has',
  takesStandardInput: () => true,

  submission: manifest => {
    refuseOtherManifests(manifest.schedulerArguments)
    const words = ['create', ...manifest.schedulerArguments, '-f', manifest.path]
    return { program: 'kubectl', arguments: words, ...(manifest.path === '-' ? { input: manifest.bytes } : {}) }
  },

  findDestination: async manifest => {
    try {
      const { context, namespace } = await readContext(manifest)
      return context === '' ? {} : { context, namespace: namespace === '' ? 'default' : namespace }
    } catch {
      return {} // no kubectl here: the question goes without its context
    }
  },

  rehearse,
  lookAfter,
  accepted: readAccepted,
  annotate,
}

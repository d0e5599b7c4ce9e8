import type { FileDocument, LiveObject } from '../../../src/cli/domain-files/document.ts'
import type { Gateway } from '../../../src/cli/domain-files/gateway.ts'
import type { World } from '../../../src/cli/domain-files/kind.ts'
import { createNames } from '../../../src/cli/domain-files/names.ts'
import { makePlan, type Planning } from '../../../src/cli/domain-files/plan/make-plan.ts'
import type { Plan } from '../../../src/cli/domain-files/plan/plan.ts'
import { manifest } from '../cli/cli-run.ts'

export const DOMAIN = '019c1a10-0000-7000-8000-000000000001'

/** What the API was called with, and what it answers. */
export interface Answers {
  readonly calls: { readonly operation: string; readonly input: Readonly<Record<string, unknown>> }[]
  /** What its lists have. */
  readonly rows?: readonly Readonly<Record<string, unknown>>[]
  /** Answers of single calls by operation; an empty object for others. */
  readonly answers?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** A Domain with the group `ops`, the Project `web` and the node `web-1` by name, and with these objects. */
export function worldOf(
  objects: readonly LiveObject[] = [],
  { calls, rows = [], answers = {} }: Answers = { calls: [] },
): World {
  const api: Gateway = {
    async call(operation, input) {
      calls.push({ operation, input })
      return answers[operation] ?? {}
    },
    all: async () => rows,
    each: (items, task) => Promise.all(items.map(task)),
  }
  const names = createNames(DOMAIN, 'acme')
  names.add('group', 'ops', 'g1')
  names.add('project', 'web', 'p1')
  names.add('node', 'web-1', 'n1')
  const live = new Map(objects.map(({ kind }) => [kind, objects.filter((one) => one.kind === kind)]))
  return { api, names, domain: {}, live, isKnown: (reference) => names.reference(reference) !== undefined }
}

export function file(kind: string, name: string, members: FileDocument['members']): FileDocument {
  return { kind, name, members, file: `${kind}.yaml`, placeOf: () => ({ line: 1, column: 1 }) }
}

/** The plan of the set `acme`. */
export function plan(world: World, documents: readonly FileDocument[], options: Partial<Planning> = {}): Promise<Plan> {
  return makePlan({ manifest, world, set: 'acme', documents, ...options })
}

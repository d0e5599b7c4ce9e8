import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../../..')
const scratch = join(root, `dist-types-${process.pid}`)
const OPERATIONS = 120
const PER_SURFACE = 10
const BUDGET_SECONDS = 3
/** What the operations may take on a slow machine: no more than twice what the types that they are written in take alone. */
const BUDGET_OF_BASELINE = 2

/** One surface in the words of the contract, its handlers and a call of each operation. */
function surfaceText(surface: number): string {
  const ids = Array.from({ length: PER_SURFACE }, (_, index) => `Operate${surface}x${index}`)
  const operations = ids.map(
    (id, index) => `  ${id}: {
    method: '${index % 2 === 0 ? 'POST' : 'PUT'}', path: '/v1/surface-${surface}/{id}/verb-${index}', summary: 'Operates',
    credentials: OPERATOR,
    params: z.strictObject({ id: uuidField('invalid_project_id', 'Project') }),
    query: z.strictObject({ filter: z.enum(['a', 'b']).optional(), ...pageQuery }),
    body: z.strictObject({ name: z.string().min(1), size: z.int().optional(), tags: z.array(z.string()), owner: z.strictObject({ id: z.uuid(), kind: z.enum(['user', 'group']) }) }),
    bodyBytesMax: 8 * KiB, gate: check('manage', 'project:{path.id}'), audit: { relation: 'surface.operate', when: 'all' },
    responses: { 200: z.object({ id: Uuid, name: z.string(), created_at: Instant, tags: z.array(z.string()) }) },
    problems: ['project_not_found'], notProvisioned: 'not_provisioned',
  },`,
  )
  const handlers = ids.map(
    (id) =>
      `    async ${id}(ctx, { id, filter, body }) { return { id, name: body.name + (filter ?? ''), created_at: String(ctx.nowMs), tags: body.tags } },`,
  )
  const calls = ids.map(
    (id) =>
      `  const r${id} = await client.${id}({ id: 'x', body: { name: 'n', tags: [], owner: { id: 'u', kind: 'user' } } }); print(r${id}.name.length)`,
  )
  return `const surface${surface} = defineSurface('surface-${surface}', 'A surface', {
${operations.join('\n')}
})
export function create${surface}(): Handlers<typeof surface${surface}> {
  return {
${handlers.join('\n')}
  }
}
export async function use${surface}(client: Client<{ all: typeof surface${surface} }>, print: (n: number) => void) {
${calls.join('\n')}
}
`
}

beforeAll(() => {
  const imports = `import { z } from 'zod'
import { check, defineSurface, OPERATOR } from '../src/shared/contract/operation.ts'
import { Instant, KiB, pageQuery, Uuid, uuidField } from '../src/shared/contract/fields.ts'
import type { Handlers } from '../src/server/http/request-context.ts'
import type { Client } from '../src/client/client.ts'
`
  const surfaces = Array.from({ length: OPERATIONS / PER_SURFACE }, (_, index) => surfaceText(index))
  mkdirSync(scratch)
  writeFileSync(join(scratch, 'many.ts'), imports + surfaces.join('\n'))
  writeFileSync(join(scratch, 'baseline.ts'), imports.replaceAll(/^import/gm, 'export'))
  writeProject('many')
  writeProject('baseline')
})
/** Writes the project that checks one file of the scratch folder. */
function writeProject(name: string): void {
  writeFileSync(join(scratch, `${name}.json`), JSON.stringify({ extends: '../tsconfig.json', include: [`${name}.ts`] }))
}

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/**
 * Type-checks one project of the scratch folder. `cpuSeconds` is what the compiler used of all cores, as the shell's `times` tells it
 * (its second line, of children): unlike the time that passed it does not depend on what else the machine does.
 */
function typeCheck(project: string): { readonly cpuSeconds: number; readonly output: string } {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const script = '"$0" "$@"; echo; times'
  const { stdout } = spawnSync(
    '/bin/sh',
    ['-c', script, process.execPath, tsc, '-p', join(scratch, `${project}.json`)],
    { encoding: 'utf8' },
  )
  const lines = stdout.trimEnd().split('\n')
  const times = [...(lines.at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g)]
  const cpuSeconds = times.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0)
  return { cpuSeconds, output: lines.slice(0, -2).join('\n').trim() }
}

it('type-checks 120 operations with their handlers and client calls in under 3 s, or in twice what the imports take', () => {
  const first = typeCheck('many')
  expect(first.output).toBe('')
  expect(first.cpuSeconds).toBeGreaterThan(0)
  // Cores that are slow, or shared with other work, take longer for the same.
  const isWithin = first.cpuSeconds < BUDGET_SECONDS
  const again = isWithin ? first : typeCheck('many')
  const budget = isWithin ? BUDGET_SECONDS : BUDGET_OF_BASELINE * typeCheck('baseline').cpuSeconds
  expect(again.cpuSeconds).toBeLessThan(Math.max(BUDGET_SECONDS, budget))
})

it('refuses a handler that is missing, one that returns something else, and a call without a member', () => {
  writeFileSync(
    join(scratch, 'wrong.ts'),
    `import type { Handlers } from '../src/server/http/request-context.ts'
import type { Client } from '../src/client/client.ts'
import type { domains } from '../src/shared/contract/domains.ts'
export const missing: Handlers<typeof domains> = {}
export const wrong: Pick<Handlers<typeof domains>, 'GetDomain'> = { GetDomain: () => ({ id: 1 }) }
export const call = (client: Client<{ domains: typeof domains }>) => client.GetDomain({})
`,
  )
  writeProject('wrong')
  const { output } = typeCheck('wrong')
  expect(output).toContain('wrong.ts(4,14): error TS27')
  expect(output).toContain('wrong.ts(5,')
  expect(output).toContain('wrong.ts(6,')
})

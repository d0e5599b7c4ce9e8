import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** A file, what it imports, and whether the folder rules let it. */
const ROWS: readonly (readonly [file: string, specifier: string, verdict: 'allowed' | 'refused'])[] = [
  ['src/shared/contract/a.ts', 'zod', 'allowed'],
  ['src/shared/contract/a.ts', '@noble/ed25519', 'allowed'],
  ['src/shared/contract/a.ts', '../ids.ts', 'allowed'],
  ['src/shared/contract/a.ts', './b.ts', 'allowed'],
  ['src/shared/contract/a.ts', 'node:crypto', 'refused'],
  ['src/shared/contract/a.ts', 'fs', 'refused'],
  ['src/shared/contract/a.ts', 'undici', 'refused'],
  ['src/shared/contract/a.ts', '../../server/config.ts', 'refused'],
  ['src/shared/ids.ts', '../client/client.ts', 'refused'],
  ['src/shared/ids.ts', '../cli/main.ts', 'refused'],
  ['src/client/client.ts', '../shared/ids.ts', 'allowed'],
  ['src/client/client.ts', 'undici', 'allowed'],
  ['src/client/client.ts', '../server/serve.ts', 'refused'],
  ['src/client/client.ts', '../cli/main.ts', 'refused'],
  ['src/cli/main.ts', '../client/client.ts', 'allowed'],
  ['src/cli/commands/nodes/list.ts', '../../../server/commands/serve.ts', 'refused'],
  ['src/cli/commands/serve.ts', '../../server/commands/serve.ts', 'allowed'],
  ['src/cli/commands/serve.ts', '../../server/composition/serve.ts', 'refused'],
  ['src/cli/commands/serve.ts', '../../server/adapters/pglite/open.ts', 'refused'],
  ['src/cli/commands/admin/users/add.ts', '../../../../server/commands/admin-users-add.ts', 'allowed'],
  ['src/server/commands/serve.ts', '../composition/serve.ts', 'allowed'],
  ['src/server/commands/serve.ts', '../../cli/main.ts', 'refused'],
  ['src/server/composition/serve.ts', '../adapters/pglite/open.ts', 'allowed'],
  ['src/server/composition/slices.ts', '../slices/nodes/slice.ts', 'allowed'],
  ['src/server/composition/serve.ts', '../../cli/main.ts', 'refused'],
  ['src/server/composition/serve.ts', 'kysely', 'refused'],
  ['src/server/config/config.ts', '../ports/rates.ts', 'allowed'],
  ['src/server/config/config.ts', '../slices/nodes/service.ts', 'refused'],
  ['src/server/config/config.ts', '../adapters/pglite/open.ts', 'refused'],
  ['src/server/config/config.ts', '../http/mount.ts', 'refused'],
  ['src/server/slices/nodes/service.ts', './store.ts', 'allowed'],
  ['src/server/slices/nodes/service.ts', '../../http/request-context.ts', 'allowed'],
  ['src/server/slices/nodes/service.ts', '../../http/auth/refusal.ts', 'allowed'],
  ['src/server/slices/nodes/service.ts', '../../ports/clock.ts', 'allowed'],
  ['src/server/slices/nodes/service.ts', '../../../shared/ids.ts', 'allowed'],
  ['src/server/slices/nodes/service.ts', '../tokens/service.ts', 'refused'],
  ['src/server/slices/nodes/service.ts', '../../adapters/pglite/open.ts', 'refused'],
  ['src/server/slices/nodes/service.ts', '../../composition/serve.ts', 'refused'],
  ['src/server/slices/nodes/service.ts', '../../config/config.ts', 'refused'],
  ['src/server/slices/nodes/service.ts', '../../../client/client.ts', 'refused'],
  ['src/server/slices/nodes/service.ts', 'kysely', 'refused'],
  ['src/server/slices/nodes/service.ts', 'fastify', 'refused'],
  ['src/server/slices/nodes/service.ts', '../../sql/hold.ts', 'allowed'],
  ['src/server/slices/nodes/store.ts', 'kysely', 'allowed'],
  ['src/server/slices/nodes/heartbeat-store.ts', 'kysely', 'allowed'],
  ['src/server/slices/audit/tables.ts', 'kysely', 'allowed'],
  ['src/server/slices/audit/events.ts', 'kysely', 'refused'],
  ['src/server/slices/nodes/store.ts', 'pg', 'refused'],
  ['src/server/slices/nodes/store.ts', '../tokens/store.ts', 'refused'],
  ['src/server/slices/nodes/store.ts', '../../sql/hold.ts', 'allowed'],
  ['src/server/outbox/consumption.ts', '../ports/outbox.ts', 'allowed'],
  ['src/server/outbox/consumption.ts', '../slices/nodes/service.ts', 'refused'],
  ['src/server/jobs/leadership.ts', 'kysely', 'refused'],
  ['src/server/event-relay/lag-store.ts', 'kysely', 'allowed'],
  ['src/server/sql/hold.ts', 'kysely', 'allowed'],
  ['src/server/sql/hold.ts', '../ports/datastore.ts', 'allowed'],
  ['src/server/sql/hold.ts', '../slices/nodes/store.ts', 'refused'],
  ['src/server/sql/hold.ts', '../http/mount.ts', 'refused'],
  ['src/server/http/mount.ts', 'fastify', 'allowed'],
  ['src/server/http/mount.ts', '../ports/clock.ts', 'allowed'],
  ['src/server/http/mount.ts', '../slices/nodes/service.ts', 'refused'],
  ['src/server/http/mount.ts', 'kysely', 'refused'],
  ['src/server/http/auth/authenticate.ts', '../cookies.ts', 'allowed'],
  ['src/server/http/auth/authenticate.ts', '../../ports/clock.ts', 'allowed'],
  ['src/server/http/auth/authenticate.ts', '../../slices/nodes/service.ts', 'refused'],
  ['src/server/ports/datastore.ts', 'kysely', 'allowed'],
  ['src/server/ports/datastore.ts', '../../shared/ids.ts', 'allowed'],
  ['src/server/ports/datastore.ts', '../http/mount.ts', 'refused'],
  ['src/server/ports/datastore.ts', './tables/tables.ts', 'allowed'],
  ['src/server/ports/tables/nodes.ts', './json.ts', 'allowed'],
  ['src/server/ports/tables/nodes.ts', '../clock.ts', 'allowed'],
  ['src/server/ports/tables/nodes.ts', '../../../shared/ids.ts', 'allowed'],
  ['src/server/ports/tables/nodes.ts', '../../http/mount.ts', 'refused'],
  ['src/server/ports/tables/nodes.ts', '../../../client/client.ts', 'refused'],
  ['src/server/ports/tables/nodes.ts', 'pg', 'refused'],
  ['src/server/adapters/pglite/open.ts', 'kysely', 'allowed'],
  ['src/server/adapters/pglite/open.ts', '../postgres/migrate.ts', 'allowed'],
  ['src/server/adapters/pglite/open.ts', '../../ports/datastore.ts', 'allowed'],
  ['src/server/adapters/pglite/open.ts', '../../ports/boot-error.ts', 'allowed'],
  ['src/server/adapters/pglite/open.ts', '../../../shared/ids.ts', 'allowed'],
  ['src/server/adapters/pglite/open.ts', '../../slices/nodes/service.ts', 'refused'],
  ['src/server/adapters/pglite/open.ts', '../../composition/serve.ts', 'refused'],
  ['src/server/adapters/postgres/migrations/m1.ts', '../database.ts', 'allowed'],
  ['src/server/adapters/postgres/migrations/m1.ts', '../../../ports/datastore.ts', 'allowed'],
  ['src/server/adapters/postgres/migrations/m1.ts', '../../../http/mount.ts', 'refused'],
]

/** Rules that are not about folders, each with a file that breaks it alone. */
const BAD_FILES: readonly (readonly [file: string, source: string, rule: string])[] = [
  [
    'src/long.ts',
    Array.from({ length: 401 }, (_, line) => `export const a${line} = ${line}`).join('\n'),
    'eslint(max-lines)',
  ],
  ['src/params.ts', 'export const f = (a: 1, b: 1, c: 1, d: 1) => a + b + c + d', 'eslint(max-params)'],
  ['src/any.ts', 'export const f = (a: any) => a', 'typescript(no-explicit-any)'],
  ['src/bang.ts', 'export const f = (a?: string) => a!', 'typescript(no-non-null-assertion)'],
  ['src/one.ts', "import { two } from './two.ts'\nexport const one = () => two", 'import(no-cycle)'],
  ['src/two.ts', "import { one } from './one.ts'\nexport const two = () => one", 'import(no-cycle)'],
  ['src/egg.ts', "import type { Hen } from './hen.ts'\nexport type Egg = { of: Hen }", 'import(no-cycle)'],
  ['src/hen.ts', "import { type Egg } from './egg.ts'\nexport type Hen = { of: Egg }", 'import(no-cycle)'],
]

interface Finding {
  readonly file: string
  readonly rule: string
  readonly line: number
}

let folder: string
let findings: readonly Finding[]

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

/** The rules of the checkout without those that need a type checker, which has nothing to check here. */
function rules(): string {
  const config = JSON.parse(readFileSync('.oxlintrc.json', 'utf8')) as { options: unknown }
  return JSON.stringify({ ...config, options: { typeAware: false } })
}

function lint(): Finding[] {
  const program = join(process.cwd(), 'node_modules/.bin/oxlint')
  const { stdout } = spawnSync(program, ['-f', 'json'], { cwd: folder, encoding: 'utf8' })
  const report = JSON.parse(stdout) as {
    diagnostics: { filename: string; code: string; labels: { span: { line: number } }[] }[]
  }
  return report.diagnostics.map(({ filename, code, labels }) => ({
    file: filename,
    rule: code,
    line: labels[0]?.span.line ?? 0,
  }))
}

/** The imports of a file, in the order of their lines. */
function importsOf(file: string): string[] {
  return ROWS.filter(([other]) => other === file).map(([, specifier]) => specifier)
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctl-lint-'))
  write('.oxlintrc.json', rules())
  for (const [file, source] of BAD_FILES) write(file, source)
  for (const [file] of ROWS)
    write(
      file,
      importsOf(file)
        .map((specifier) => `import '${specifier}'\n`)
        .join(''),
    )
  findings = lint()
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

test.each(ROWS)('%s importing %s is %s', (file, specifier, verdict) => {
  const line = importsOf(file).indexOf(specifier) + 1
  const refused = findings.filter(
    (finding) => finding.file === file && finding.line === line && finding.rule === 'eslint(no-restricted-imports)',
  )
  expect(refused).toHaveLength(verdict === 'refused' ? 1 : 0)
})

test.each(BAD_FILES)('%s breaks its rule', (file, _source, rule) => {
  expect(findings.filter((finding) => finding.file === file).map((finding) => finding.rule)).toContain(rule)
})

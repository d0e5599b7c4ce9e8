import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import {
  familyOf,
  groupingsOf,
  readMetrics,
  selectorsOf,
  type ScrapedMetric,
} from '../support/network/prometheus-text.ts'
import { requirement } from '../support/run/requirements.mjs'

const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const RULES = file('deploy/prometheus-rules.yaml')
const CASES = file('test/support/network/alert-cases.yaml')
const PAGE = file('docs/metrics.md')
const promtool = requirement('promtool')

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly runbook: string }
}

const alerts = (parse(readFileSync(RULES, 'utf8')) as { groups: { rules: Alert[] }[] }).groups.flatMap(
  ({ rules }) => rules,
)

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

const dashboard: {
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly { readonly query: string }[] }
} = JSON.parse(readFileSync(file('deploy/grafana-dashboard.json'), 'utf8'))
/** A panel's expression as Prometheus gets it. */
const panels = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr: expr.replaceAll('$__rate_interval', '5m') })),
)
const expressions = [...alerts.map(({ expr }) => expr), ...panels.map(({ expr }) => expr)]

const folder = mkdtempSync(join(tmpdir(), 'ctl-metrics-'))
let server: CtlProcess
let scrape: string
let metrics: ReadonlyMap<string, ScrapedMetric>
beforeAll(async () => {
  const sampling = ['--capacity-sample-interval', '1s']
  server = await startCtl({ args: ['--data-dir', join(folder, 'data'), '--ops-listen', '127.0.0.1:0', ...sampling] })
  await fetch(`${server.url}/v1/auth/whoami`)
  // The Domain of the first run has metrics of its capacity from its first sample on.
  scrape = await vi.waitFor(
    async () => {
      const text = await (await fetch(`${server.opsUrl ?? ''}/metrics`)).text()
      if (!text.includes('service_capacity_used{')) throw new Error('there is no sample yet')
      return text
    },
    { timeout: 60_000, interval: 200 },
  )
  metrics = readMetrics(scrape)
}, 180_000)
afterAll(async () => {
  await server.end('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** Those that every Node.js program has are the library's to name. */
const isOwn = (name: string): boolean => !/^(?:nodejs|process)_/.test(name)
/** What Prometheus itself adds. */
const ADDED = ['job', 'instance', 'le']

const HEAD = '| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n'

interface Documented {
  readonly name: string
  readonly labels: readonly string[]
}

/** Rows of the page, by name. */
function documented(): ReadonlyMap<string, Documented> {
  const rows = readFileSync(PAGE, 'utf8').matchAll(/^\| `(\w+)` \| \w+ \| (.*?) \|/gm)
  const entries = [...rows].map(([, name = '', labels = '']): [string, Documented] => {
    return [name, { name, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label) }]
  })
  return new Map(entries)
}

function rowOf({ name, type, labels, help }: ScrapedMetric): string {
  // What has no samples yet shows no labels: those that the page gives it stay.
  const known = labels.length > 0 ? labels : (documented().get(name)?.labels ?? [])
  return `| \`${name}\` | ${type} | ${known.map((label) => `\`${label}\``).join(', ')} | ${help} |`
}

/** The page with its two tables written anew. */
function pageOf(found: ReadonlyMap<string, ScrapedMetric>): string {
  const table = (own: boolean): string =>
    HEAD +
    [...found.values()]
      .filter(({ name }) => isOwn(name) === own)
      .map(rowOf)
      .toSorted()
      .join('\n')
  const tables = [table(true), table(false)]
  return readFileSync(PAGE, 'utf8').replaceAll(/\| Metric \|.*\n\|[-|]*\|\n(?:\|.*\n)*/g, () => `${tables.shift()}\n`)
}

test('docs/metrics.md has every metric of a running server, and no other', () => {
  const page = pageOf(metrics)
  if (process.env['CTL_GOLDEN'] === 'update') writeFileSync(PAGE, page)
  expect(readFileSync(PAGE, 'utf8')).toBe(page)
  expect(documented().size).toBeGreaterThan(40)
})

test('alerts and dashboard ask for metrics and labels that there are', () => {
  const labelsOf = (name: string): readonly string[] => [...(documented().get(name)?.labels ?? []), ...ADDED]
  for (const expression of expressions) {
    const selectors = selectorsOf(expression)
    expect(selectors.length).toBeGreaterThan(0)
    const families = selectors.map(({ metric }) => (metrics.has(metric) ? metric : familyOf(metric)))
    for (const [index, { metric, labels }] of selectors.entries()) {
      if (metric === 'up') continue
      const family = families[index] ?? ''
      expect([...metrics.keys()]).toContain(family)
      expect(labelsOf(family)).toEqual(expect.arrayContaining([...labels]))
    }
    expect(families.flatMap(labelsOf)).toEqual(expect.arrayContaining([...groupingsOf(expression)]))
  }
  for (const { query } of dashboard.templating.list.slice(1)) expect(query).toContain('label_values(leading')
})

test('what the server measures of itself is shown on the dashboard', () => {
  const shown = new Set(panels.flatMap(({ expr }) => selectorsOf(expr).map(({ metric }) => familyOf(metric))))
  const hidden = [...metrics.keys()].filter((name) => isOwn(name) && !shown.has(name) && !shown.has(familyOf(name)))
  expect(hidden).toEqual([])
})

test('a name without braces is refused by the check itself', () => {
  expect(() => selectorsOf('rate(http_requests_total[5m]) > 0')).toThrow('http_requests_total')
  expect(selectorsOf('sum by (a) (rate(x{job="y",s=~"5.."}[5m])) / 2')).toEqual([{ metric: 'x', labels: ['job', 's'] }])
})

describe('alerts', () => {
  test('each has a line of what to do, and a case where it fires and one where it is silent', () => {
    const operations = readFileSync(file('docs/operations.md'), 'utf8')
    const { tests } = parse(readFileSync(CASES, 'utf8')) as { tests: { name: string }[] }
    const cases = tests.map(({ name }) => name)
    expect(alerts.length).toBeGreaterThanOrEqual(15)
    for (const { alert, annotations, labels } of alerts) {
      expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`)
      expect(operations).toContain(`#### ${alert}\n`)
      expect(['page', 'ticket']).toContain(labels.severity)
      expect(cases).toEqual(expect.arrayContaining([`${alert} fires`, `${alert} is silent`]))
    }
  })

  describe.skipIf(promtool === undefined)('by promtool', () => {
    const run = (...args: string[]): string => execFileSync(promtool ?? '', args, { encoding: 'utf8' })

    test('the rules are well formed', () => {
      expect(run('check', 'rules', RULES)).toContain(`SUCCESS: ${alerts.length} rules found`)
    })

    test('each fires and is silent where it should', () => {
      expect(run('test', 'rules', CASES)).toContain('SUCCESS')
    })

    test('the expressions of the dashboard are well formed', () => {
      const rules = panels.map(({ expr }, index) => ({ record: `panel:${index}`, expr }))
      const path = join(folder, 'panels.json')
      // JSON is YAML.
      writeFileSync(path, JSON.stringify({ groups: [{ name: 'panels', rules }] }))
      expect(run('check', 'rules', path)).toContain(`SUCCESS: ${panels.length} rules found`)
    })

    test('the metrics keep to the rules of names', () => {
      const { stdout, stderr } = spawnSync(promtool ?? '', ['check', 'metrics'], { input: scrape, encoding: 'utf8' })
      const complaints = `${stdout}${stderr}`.split('\n').filter((line) => line !== '')
      expect(complaints.filter((line) => isOwn(line))).toEqual([])
    })
  })
})

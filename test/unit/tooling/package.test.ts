import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

const MB = 1_000_000
const PACKED_MAX = 12 * MB
const UNPACKED_MAX = 30 * MB

/** Everything that the package may hold; `*` stands for a part of a name. A new place is a decision. */
const CONTENTS = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'package.json',
  'bin/ctl.js',
  'bin/package.json',
  'completions/_ctl',
  'completions/ctl.bash',
  'completions/ctl.fish',
  'deploy/Caddyfile',
  'deploy/Containerfile',
  'deploy/ctl.service',
  'deploy/grafana-dashboard.json',
  'deploy/kubernetes/ctl.yaml',
  'deploy/nginx.conf',
  'deploy/prometheus-rules.yaml',
  'dist/agent/LICENSES.txt',
  'dist/agent/ctl-agent.cjs',
  'dist/blank-database.tar.gz',
  'dist/console/*.css',
  'dist/console/*.css.br',
  'dist/console/*.css.gz',
  'dist/console/*.js',
  'dist/console/*.js.br',
  'dist/console/*.js.gz',
  'dist/console/LICENSES.txt',
  'dist/console/files.json',
  'dist/console/index.html',
  'dist/console/index.html.br',
  'dist/console/index.html.gz',
  'dist/contract-examples.json',
  'dist/contract-index.json',
  'dist/contract-manifest.json',
  'dist/ctl/*.cjs',
  'dist/ctl/LICENSES.txt',
  'dist/docs-renderer.LICENSE.txt',
  'dist/docs-renderer.js',
  'dist/serve/*.js',
  'dist/serve/LICENSES.txt',
  'docs/*.md',
  'docs/decisions/*.md',
  'docs/vectors/*.json',
  'examples/agent-python/README.md',
  'examples/agent-python/agent/*.py',
  'examples/ci/README.md',
  'examples/ci/github-actions.yaml',
  'examples/scenarios/*.yaml',
]

interface Packed {
  readonly size: number
  readonly unpackedSize: number
  readonly bundled: readonly string[]
  readonly files: readonly { readonly path: string; readonly mode: number }[]
}

const pattern = (entry: string): RegExp =>
  new RegExp(`^${entry.replaceAll('.', String.raw`\.`).replaceAll('*', '[^/]+')}$`)

const isText = (path: string): boolean => /\.(?:cjs|js|json|md|yaml|service|conf|py|txt)$/.test(path)

describe('The package', () => {
  let packed: Packed
  let paths: readonly string[]
  const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

  beforeAll(() => {
    // The build is there already; the script that makes it is for those who pack a fresh checkout.
    const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--silent']
    const { stdout, stderr } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8' })
    const [only] = JSON.parse(stdout === '' ? stderr : stdout) as readonly Packed[]
    if (only === undefined) throw new Error('npm packed nothing')
    packed = only
    paths = packed.files.map(({ path }) => path)
  }, 60_000)

  test('holds what it is meant to hold, and nothing else', () => {
    expect(paths.filter((path) => !CONTENTS.some((entry) => pattern(entry).test(path)))).toEqual([])
    expect(CONTENTS.filter((entry) => !paths.some((path) => pattern(entry).test(path)))).toEqual([])
    expect(packed.bundled).toEqual([])
  })

  test('is at most 12 MB, and 30 MB unpacked', () => {
    expect(packed.size).toBeLessThan(PACKED_MAX)
    expect(packed.unpackedSize).toBeLessThan(UNPACKED_MAX)
  })

  test('has no source map, and no path of the machine that built it', () => {
    const texts = paths.filter(isText)
    expect(texts.length).toBeGreaterThan(300)
    const home = process.env['HOME'] ?? '/root'
    const found = texts.filter((path) => {
      const text = read(path)
      return text.includes(ROOT.slice(0, -1)) || text.includes(`${home}/`) || /^\/\/# sourceMappingURL=/m.test(text)
    })
    expect(found).toEqual([])
  })

  test('installs the commands ctl and ctl-mesh, which may be run', () => {
    const { bin } = JSON.parse(read('package.json')) as { readonly bin: object }
    expect(bin).toEqual({ ctl: 'bin/ctl.js', 'ctl-mesh': 'bin/ctl.js' })
    expect(packed.files.find(({ path }) => path === 'bin/ctl.js')?.mode).toBe(0o755)
    expect(read('bin/ctl.js')).toMatch(/^#!\/usr\/bin\/env node\n/)
  })

  test('its chunks ask for no module that it leaves out', () => {
    const chunks = paths.filter((path) => /^dist\/(?:ctl|serve)\/.*js$/.test(path))
    const asked = chunks.flatMap((path) =>
      [...read(path).matchAll(/(?:\bfrom\s*|\bimport\s*\(?|\brequire\()\s*["'](\.[^"']+)["']/g)].map(([, id = '']) =>
        normalize(join(dirname(path), id)),
      ),
    )
    const known = new Set(paths)
    expect(asked.length).toBeGreaterThan(300)
    expect(
      asked.filter((path) => path.startsWith('dist/') && existsSync(join(ROOT, path)) && !known.has(path)),
    ).toEqual([])
  })

  test('its first page links to nothing that it does not hold', () => {
    const links = [...read('README.md').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => normalize(link))
    expect(links.length).toBeGreaterThan(20)
    expect(links.filter((link) => !paths.includes(link))).toEqual(['CONTRIBUTING.md'])
  })
})

test('a checkout that is not built gets a sentence with the command that builds it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-unbuilt-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true })
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'bin/ctl.js'), 'version'], {
    encoding: 'utf8',
  })
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toBe(
    'ctl: This checkout is not built: run `npm run build` in it, or `npm start`, which builds it and serves.\n',
  )
})

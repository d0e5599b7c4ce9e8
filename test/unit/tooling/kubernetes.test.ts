import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { Secret } from 'kubernetes-models/v1/Secret'
import { Service } from 'kubernetes-models/v1/Service'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

interface Kind {
  new (data: never): { validate(): void }
  readonly apiVersion: string
  readonly kind: string
}

/** The kinds of the manifests, each with the module of its type. */
const KINDS: readonly { readonly model: Kind; readonly module: string }[] = [
  { model: Secret, module: 'kubernetes-models/v1/Secret' },
  { model: Deployment, module: 'kubernetes-models/apps/v1/Deployment' },
  { model: Service, module: 'kubernetes-models/v1/Service' },
  { model: PodDisruptionBudget, module: 'kubernetes-models/policy/v1/PodDisruptionBudget' },
]

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
}

const read = (): readonly Manifest[] =>
  parseAllDocuments(readFileSync(join(ROOT, 'deploy/kubernetes/ctl.yaml'), 'utf8')).map(
    (document) => document.toJS() as Manifest,
  )

const kindOf = ({ apiVersion, kind }: Manifest) =>
  KINDS.find(({ model }) => model.apiVersion === apiVersion && model.kind === kind)

/** What the schema of its kind says against the manifest; empty when it is valid. */
function faults(manifest: Manifest): string {
  const found = kindOf(manifest)
  if (found === undefined) return `${manifest.apiVersion} ${manifest.kind} is not a kind of Kubernetes`
  try {
    // The schema judges whatever the file holds.
    new found.model(manifest as never).validate()
    return ''
  } catch (error) {
    return String(error)
  }
}

/** What the compiler says against the manifests as values of their types: it names members that Kubernetes does not know. */
function unknownMembers(manifests: readonly Manifest[]): string {
  const folder = mkdtempSync(join(ROOT, 'node_modules/.kubernetes-'))
  try {
    const lines = manifests.flatMap((manifest, index) => {
      const { model, module } = kindOf(manifest) ?? { model: { kind: 'unknown' }, module: 'unknown' }
      const type = `I${model.kind}`
      return [
        `import type { ${type} as T${index} } from '${module}'`,
        `export const m${index}: T${index} = ${JSON.stringify(manifest)}`,
      ]
    })
    writeFileSync(join(folder, 'manifests.mts'), lines.join('\n'))
    const flags = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--types',
      '',
    ]
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const args = [tsc, '--ignoreConfig', ...flags, join(folder, 'manifests.mts')]
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: folder })
    return `${stdout}${stderr}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A copy of the manifests in which one text of the file is another. */
function changed(from: string, to: string): readonly Manifest[] {
  const text = JSON.stringify(read())
  expect(text).toContain(from)
  return JSON.parse(text.replace(from, to)) as readonly Manifest[]
}

describe('the Kubernetes manifests', () => {
  test('are valid by the schemas of their kinds', () => {
    expect(read().map(({ kind }) => kind)).toEqual([
      'Secret',
      'Deployment',
      'Service',
      'Service',
      'PodDisruptionBudget',
    ])
    expect(read().map(faults)).toEqual(['', '', '', '', ''])
  })

  test.each([
    ['a number in quotes', '"replicas":2', '"replicas":"2"', 'replicas must be integer'],
    ['a container without a name', '"name":"ctl","image"', '"image"', "must have required property 'name'"],
    ['a kind that does not exist', '"apps/v1"', '"apps/v2"', 'apps/v2 Deployment is not a kind'],
  ])('the schemas find %s', (_what, from, to, said) => {
    expect(changed(from, to).map(faults).join('').replaceAll("'", '')).toContain(said.replaceAll("'", ''))
  })

  test('have no member that Kubernetes does not know', () => {
    expect(unknownMembers(read())).toBe('')
    expect(unknownMembers(changed('"readOnlyRootFilesystem"', '"readonlyRootFilesystem"'))).toContain(
      '\'"readonlyRootFilesystem"\' does not exist',
    )
  }, 180_000)

  test('run without rights, within limits, and one replica at least is left by a drain', () => {
    const [deployment] = read().filter(({ kind }) => kind === 'Deployment') as unknown as readonly DeploymentManifest[]
    const pod = deployment?.spec.template.spec
    const [container] = pod?.containers ?? []
    expect(pod?.automountServiceAccountToken).toBe(false)
    expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(Object.keys(container?.resources.requests ?? {})).toEqual(['cpu', 'memory'])
    expect(Object.keys(container?.resources.limits ?? {})).toEqual(['memory'])
    expect(deployment?.spec.replicas).toBeGreaterThan(1)
    expect(read().some(({ kind }) => kind === 'PodDisruptionBudget')).toBe(true)
  })

  test('name the image of this version', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    expect(JSON.stringify(read())).toContain(`"image":"registry.example.net/ctl:${version}"`)
  })
})

interface DeploymentManifest {
  readonly spec: {
    readonly replicas: number
    readonly template: {
      readonly spec: {
        readonly automountServiceAccountToken: boolean
        readonly securityContext: object
        readonly containers: readonly {
          readonly securityContext: object
          readonly resources: { readonly requests: object; readonly limits: object }
        }[]
      }
    }
  }
}

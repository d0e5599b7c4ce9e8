import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { parseConfig } from '../../../src/server/config/config.ts'
import { requirement } from '../../support/run/requirements.mjs'

const path = (name: string): string => fileURLToPath(new URL(`../../../deploy/${name}`, import.meta.url))
const read = (name: string): string => readFileSync(path(name), 'utf8')

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')

describe('the systemd unit', () => {
  const unit = read('ctl.service')
  const setting = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? ''

  test('starts the server with flags that it has', () => {
    const [program, script, command, ...argv] = setting('ExecStart').split(' ')
    expect([program, script, command]).toEqual(['/usr/bin/node', '/opt/ctl/bin/ctl.js', 'serve'])
    expect(parseConfig({ argv, env: {} })).toMatchObject({ dataDir: '/var/lib/ctl' })
  })

  test('leaves a stop the time that it takes, and keeps its secrets from others', () => {
    expect(Number(setting('TimeoutStopSec'))).toBeGreaterThanOrEqual(20)
    expect(setting('StateDirectoryMode')).toBe('0700')
    expect(setting('EnvironmentFile')).toBe('-/etc/ctl/ctl.env')
  })

  test.skipIf(requirement('systemd-analyze') === undefined)('is one that systemd understands', () => {
    const analyze = requirement('systemd-analyze') ?? ''
    const folder = mkdtempSync(join(tmpdir(), 'ctl-unit-'))
    /** Complaints leave the exit code alone. Where Node is on this machine is none. */
    const complaints = (text: string): readonly string[] => {
      const copy = join(folder, 'ctl.service')
      writeFileSync(copy, text)
      const { stdout, stderr } = spawnSync(analyze, ['verify', '--man=no', copy], { encoding: 'utf8' })
      return `${stdout}${stderr}`.split('\n').filter((line) => line !== '' && !line.includes('/usr/bin/node'))
    }
    try {
      expect(complaints(unit)).toEqual([])
      expect(complaints(unit.replace('RestartSec', 'RestartSeconds'))).toHaveLength(1)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test.skipIf(requirement('systemd-analyze') === undefined)('exposes at most 1.5 of 10, as systemd counts', () => {
    const analyze = requirement('systemd-analyze') ?? ''
    const folder = mkdtempSync(join(tmpdir(), 'ctl-unit-'))
    const exitCode = (text: string): number | null => {
      const copy = join(folder, 'ctl.service')
      writeFileSync(copy, text)
      return spawnSync(analyze, ['security', '--offline=true', '--no-pager', '--threshold=15', copy]).status
    }
    try {
      expect(exitCode(unit)).toBe(0)
      expect(exitCode(unit.replace('CapabilityBoundingSet=\n', ''))).not.toBe(0)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly stringData?: Readonly<Record<string, string>>
  readonly spec: {
    readonly selector: Readonly<Record<string, unknown>>
    readonly ports?: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[]
    readonly minAvailable?: number
    readonly replicas?: number
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      readonly spec: {
        readonly terminationGracePeriodSeconds: number
        readonly volumes: readonly { readonly name: string }[]
        readonly containers: readonly [Container]
      }
    }
  }
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}

interface Container {
  readonly args: readonly string[]
  readonly env: readonly {
    readonly name: string
    readonly valueFrom: { readonly secretKeyRef: { readonly name: string; readonly key: string } }
  }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly startupProbe: Probe
  readonly livenessProbe: Probe
  readonly readinessProbe: Probe
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly [string, string] } } }
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
}

describe('the Kubernetes manifests', () => {
  const manifests = parseAllDocuments(read('kubernetes/ctl.yaml'), { strict: true }).map((document): Manifest => {
    expect(document.errors).toEqual([])
    return document.toJS()
  })
  const of = (kind: string): readonly Manifest[] => manifests.filter((manifest) => manifest.kind === kind)
  const [deployment] = of('Deployment')
  if (deployment === undefined) throw new Error('there is no deployment')
  const pod = deployment.spec.template
  const [container] = pod.spec.containers
  const [command, ...argv] = container.args

  test('start the server with flags and variables that it has', () => {
    const [secret] = of('Secret')
    const env = Object.fromEntries(
      container.env.map(({ name, valueFrom: { secretKeyRef } }) => {
        expect(secretKeyRef.name).toBe(secret?.metadata.name)
        expect(Object.keys(secret?.stringData ?? {})).toContain(secretKeyRef.key)
        return [name, secretKeyRef.key === 'master-key' ? MASTER_KEY : (secret?.stringData?.[secretKeyRef.key] ?? '')]
      }),
    )
    expect(command).toBe('serve')
    const config = parseConfig({ argv, env })
    expect(config.storage.kind).toBe('postgres')
    expect(config.masterKey.kind).toBe('given')
    const ports = new Map(container.ports.map(({ name, containerPort }) => [name, containerPort]))
    expect(config.listen).toEqual({ host: '0.0.0.0', port: ports.get('api') })
    expect(config.opsListen).toEqual({ host: '0.0.0.0', port: ports.get('ops') })
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toContain(config.dataDir)
  })

  test('a secret that was not filled in stops the start', () => {
    const env = { SERVICE_MASTER_KEY: 'change-me' }
    expect(() => parseConfig({ argv, env })).toThrow('SERVICE_MASTER_KEY')
  })

  test('ask for health where it is told', () => {
    const asked = [container.startupProbe, container.livenessProbe, container.readinessProbe]
    expect(asked.map(({ httpGet }) => httpGet)).toEqual([
      { path: '/livez', port: 'api' },
      { path: '/livez', port: 'api' },
      { path: '/readyz', port: 'api' },
    ])
  })

  test('leave a stop the time that it takes, behind what takes the pod out of the service', () => {
    const waited = Number(container.lifecycle.preStop.exec.command[1])
    expect(waited).toBeGreaterThanOrEqual(5)
    expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(waited + 30)
  })

  test('fit each other', () => {
    const labels = { 'app.kubernetes.io/name': 'ctl' }
    expect(pod.metadata.labels).toEqual(labels)
    expect(deployment.spec.selector).toEqual({ matchLabels: labels })
    for (const { spec } of of('Service')) {
      expect(spec.selector).toEqual(labels)
      for (const { port, targetPort } of spec.ports ?? [])
        expect(container.ports).toContainEqual({ name: targetPort, containerPort: port })
    }
    const [budget] = of('PodDisruptionBudget')
    expect(budget?.spec.selector).toEqual({ matchLabels: labels })
    expect(budget?.spec.minAvailable).toBeLessThan(deployment.spec.replicas ?? 0)
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(pod.spec.volumes.map(({ name }) => name))
    expect(of('Service').map(({ metadata }) => metadata.name)).toEqual(['ctl', 'ctl-ops'])
  })
})

describe('the container file', () => {
  test('starts the server with flags that it has, on the ports that it names', () => {
    const file = read('Containerfile')
    const line = (word: string): string => new RegExp(`^${word} (.*)$`, 'm').exec(file)?.[1] ?? ''
    const [command, ...argv]: string[] = JSON.parse(line('CMD'))
    expect(command).toBe('serve')
    // Plain HTTP to others is for whoever runs it to allow.
    const config = parseConfig({ argv: [...argv, '--insecure-http'], env: {} })
    expect(line('EXPOSE')).toBe(`${config.listen.port} ${config.opsListen?.port ?? ''}`)
    expect(line('VOLUME')).toBe(config.dataDir)
    expect(line('STOPSIGNAL')).toBe('SIGTERM')
  })
})

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DoctorSystem } from '../../../../../src/cli/agent/doctor/doctor-facts.ts'
import { lookAtMachine } from '../../../../../src/cli/agent/doctor/look-at-machine.ts'
import type { Finding } from '../../../../../src/cli/commands/doctor/finding.ts'

describe('the doctor on a machine', () => {
  let folder: string
  let system: DoctorSystem

  const program = (name: string) => writeFileSync(join(folder, 'bin', name), '', { mode: 0o755 })
  const found = (): Readonly<Record<string, Finding>> =>
    Object.fromEntries(lookAtMachine(system).map((finding) => [finding.check, finding]))

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-doctor-'))
    for (const name of ['bin', 'modules']) mkdirSync(join(folder, name))
    system = {
      run: () => Promise.reject(new Error('nothing is run')),
      path: `${join(folder, 'nowhere')}:${join(folder, 'bin')}`,
      tun: join(folder, 'tun'),
      hostsFile: join(folder, 'hosts'),
      modulesFolder: join(folder, 'modules'),
      modulesList: join(folder, 'modules.dep'),
      nowMs: Date.now,
    }
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('names each missing program with its package', () => {
    expect(found()).toMatchObject({
      ip: { status: 'problem', advice: 'Install it: apt install iproute2' },
      nft: { status: 'problem', advice: 'Install it: apt install nftables' },
      wireguard: { status: 'problem', advice: 'Install it: apt install wireguard-go' },
      wg: { status: 'warning', advice: 'Install it: apt install wireguard-tools' },
      conntrack: { status: 'warning', advice: 'Install it: apt install conntrack' },
      tun: { status: 'problem', detail: `${folder}/tun is missing or cannot be opened` },
    })
  })

  test('finds programs in every folder of the path, and takes no file that is not executable', () => {
    program('ip')
    writeFileSync(join(folder, 'bin/nft'), '', { mode: 0o644 })
    expect(found()).toMatchObject({ ip: { status: 'ok', detail: `${folder}/bin/ip` }, nft: { status: 'problem' } })
  })

  test('needs wireguard-go and a tun device where the kernel has no WireGuard, and not wg', () => {
    program('wireguard-go')
    writeFileSync(system.tun, '')
    expect(found()).toMatchObject({ wireguard: { status: 'ok' }, tun: { status: 'ok' }, wg: { status: 'warning' } })
  })

  test.each([
    ['has loaded', () => mkdirSync(join(folder, 'modules/wireguard'))],
    [
      'can load',
      () =>
        writeFileSync(join(folder, 'modules.dep'), 'kernel/drivers/net/wireguard/wireguard.ko.xz: kernel/lib/a.ko\n'),
    ],
  ])('needs wg, and no tun device, where the kernel %s WireGuard', (_, prepare) => {
    prepare()
    expect(found()).toMatchObject({
      wireguard: { status: 'ok', detail: 'that of the kernel' },
      tun: { status: 'warning' },
      wg: { status: 'problem', detail: "it is not installed: the kernel's WireGuard cannot be configured" },
    })
  })
})

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  createForwardingFirewall,
  type ForwardingFirewall,
} from '../../../../../../src/cli/agent/bridges/forwards/forwarding-firewall.ts'
import { createForwardingSetting } from '../../../../../../src/cli/agent/bridges/forwards/forwarding-setting.ts'
import { interfacesOf } from '../../../../../../src/cli/agent/bridges/forwards/open-forwarding.ts'
import { readForwards, writeForwards } from '../../../../../../src/cli/agent/bridges/forwards/forwards-file.ts'
import type { FirewallView, Forward } from '../../../../../../src/cli/agent/firewall/firewall-view.ts'
import { createFirewall, type Firewall } from '../../../../../../src/cli/agent/firewall/firewall.ts'
import { createFakeKernel, type FakeKernel } from '../../../../../support/firewall/fake-kernel.ts'

const NODE = '0197a000-0000-7000-8000-00000000a001'
const VIEW: FirewallView = { interfaceName: 'ctl0', policies: [], peers: [], forwards: [] }
const forwardOf = (interfaceName: string): Forward => ({ interfaceName, subnets: ['10.20.0.0/16'], initiators: 'both' })

let folder: string
let kernel: FakeKernel
let wanted: readonly Forward[]
let before: readonly Forward[]
let present: Set<string>
let remembered: (readonly Forward[])[]
let onRemember: () => void
let lines: string[]

const setting = (name: string): string => readFileSync(join(folder, name, 'forwarding'), 'utf8').trim()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctl-forwarding-'))
  for (const name of ['default', 'ctl0', 'hq', 'depot']) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'forwarding'), '0\n')
  }
  kernel = createFakeKernel()
  wanted = []
  before = []
  present = new Set(['hq', 'depot'])
  remembered = []
  onRemember = () => undefined
  lines = []
})
afterEach(() => rmSync(folder, { recursive: true }))

function start(firewall?: Firewall): ForwardingFirewall {
  const log = (line: string): void => void lines.push(line)
  return createForwardingFirewall({
    firewall: firewall ?? createFirewall({ run: (...call) => kernel.run(...call), log }),
    setting: createForwardingSetting(interfacesOf(before, 'ctl0'), folder),
    forwards: () => wanted,
    before,
    isOwn: (name) => present.has(name),
    async remember(forwards) {
      onRemember()
      remembered.push(forwards)
    },
    log,
    patience: () => Promise.resolve(),
  })
}

describe('what a host forwards', () => {
  test('lets the interfaces concerned forward once the rules are in force, and no longer when nothing is forwarded', async () => {
    const firewall = start()
    await firewall.apply(VIEW)
    expect([setting('ctl0'), setting('hq'), remembered]).toEqual(['0', '0', []])
    wanted = [forwardOf('hq')]
    expect(await firewall.enforceForwards()).toBeUndefined()
    expect([setting('ctl0'), setting('hq'), setting('depot'), setting('default')]).toEqual(['1', '1', '0', '0'])
    wanted = [forwardOf('depot')]
    present.delete('hq')
    await firewall.enforceForwards()
    expect([setting('ctl0'), setting('hq'), setting('depot')]).toEqual(['1', '0', '1'])
    wanted = []
    present.delete('depot')
    await firewall.apply(VIEW)
    expect([setting('ctl0'), setting('depot')]).toEqual(['0', '0'])
    expect(remembered.at(-1)).toEqual([])
  })

  test('goes back to what an administrator has set for all interfaces', async () => {
    writeFileSync(join(folder, 'default', 'forwarding'), '1\n')
    const firewall = start()
    wanted = [forwardOf('hq')]
    await firewall.apply(VIEW)
    wanted = []
    present.delete('hq')
    await firewall.apply(VIEW)
    expect([setting('ctl0'), setting('hq')]).toEqual(['1', '1'])
  })

  test('is nothing without the rules', async () => {
    kernel.missing.add('nft')
    const firewall = start()
    await firewall.apply(VIEW)
    wanted = [forwardOf('hq')]
    expect(await firewall.enforceForwards()).toContain('nft is not installed')
    expect([setting('ctl0'), setting('hq')]).toEqual(['0', '0'])
    kernel.missing.delete('nft')
    await firewall.apply(VIEW)
    expect([setting('ctl0'), setting('hq')]).toEqual(['1', '1'])
    kernel.missing.add('nft')
    await firewall.apply(VIEW)
    expect([setting('ctl0'), setting('hq')]).toEqual(['0', '0'])
  })

  test('goes on after a restart until the bridge of an interface is known, and ends with the interface', async () => {
    before = [forwardOf('hq'), forwardOf('depot')]
    const firewall = start()
    await firewall.apply(VIEW)
    expect([setting('ctl0'), setting('hq'), setting('depot')]).toEqual(['1', '1', '1'])
    wanted = [{ ...forwardOf('hq'), initiators: 'mesh' }]
    present.delete('depot')
    await firewall.enforceForwards()
    expect(remembered.at(-1)).toEqual(wanted)
    expect([setting('hq'), setting('depot')]).toEqual(['1', '0'])
  })

  test('is taken back after a restart where its interface is gone, so that nothing is forwarded without rules', async () => {
    before = [forwardOf('hq')]
    for (const name of ['ctl0', 'hq']) writeFileSync(join(folder, name, 'forwarding'), '1\n')
    present.delete('hq')
    await start().apply(VIEW)
    expect([setting('ctl0'), setting('hq'), remembered]).toEqual(['0', '0', [[]]])
  })

  test('is written down before the kernel forwards it', async () => {
    wanted = [forwardOf('hq')]
    const firewall = start()
    onRemember = () => expect(setting('ctl0')).toBe('0')
    await firewall.apply(VIEW)
    expect([remembered, setting('ctl0'), lines]).toEqual([[wanted], '1', []])
  })

  test('goes on where it cannot be written down, which is logged once, and is written down by a later look', async () => {
    wanted = [forwardOf('hq')]
    const firewall = start()
    onRemember = () => {
      throw new Error('no space left on device')
    }
    await firewall.apply(VIEW)
    await firewall.enforceForwards()
    expect([setting('ctl0'), setting('hq'), remembered]).toEqual(['1', '1', []])
    expect(lines).toEqual([expect.stringContaining('no space left on device')])
    onRemember = () => undefined
    await firewall.enforceForwards()
    expect([remembered, lines]).toEqual([[wanted], [expect.anything()]])
  })

  test('is given to the firewall as the same view while nothing changes, and a removal is lost to no look at the rules', async () => {
    const calls: (FirewallView | 'remove')[] = []
    let carryOn: () => void = () => undefined
    const firewall = start({
      async apply(view) {
        calls.push(view)
        await new Promise<void>((resolve) => {
          carryOn = resolve
        })
      },
      remove: async () => void calls.push('remove'),
      counters: async () => [],
      status: () => ({ fault: undefined, mayCarryPackets: true }),
    })
    wanted = [forwardOf('hq')]
    for (const _ of [1, 2]) {
      const applied = firewall.apply({ ...VIEW })
      carryOn()
      await applied
    }
    expect(calls).toHaveLength(2)
    expect(calls[1]).toBe(calls[0])
    const running = firewall.enforceForwards()
    await vi.waitFor(() => expect(calls).toHaveLength(3))
    const removed = firewall.remove()
    const looked = firewall.enforceForwards()
    carryOn()
    await Promise.all([running, removed, looked])
    expect(calls.slice(3)).toEqual(['remove'])
    expect(setting('ctl0')).toBe('0')
  })

  test('waits for the first policies, and is refused while there are none', async () => {
    wanted = [forwardOf('hq')]
    expect(await start().enforceForwards()).toBe('the policies of this node are not known yet')
    expect(setting('hq')).toBe('0')
  })
})

describe('the file of what is forwarded', () => {
  test('is that of one node, and one of another form counts as none', async () => {
    const path = join(folder, 'forwards.json')
    expect(await readForwards(path, NODE)).toEqual([])
    await writeForwards(path, NODE, [forwardOf('hq')])
    expect(await readForwards(path, NODE)).toEqual([forwardOf('hq')])
    expect(await readForwards(path, '0197a000-0000-7000-8000-00000000a002')).toEqual([])
    for (const text of ['{', '{"format":1}', `{"format":1,"node_id":"${NODE}","forwards":[{"interfaceName":"a b"}]}`]) {
      writeFileSync(path, text)
      expect(await readForwards(path, NODE)).toEqual([])
    }
  })
})

import { isDeepStrictEqual } from 'node:util'
import { explained, reasonOf } from '../../errors.ts'
import type { FirewallView } from '../../firewall/firewall-view.ts'
import type { Firewall } from '../../firewall/firewall.ts'
import type { Forward } from '../../firewall/firewall-view.ts'
import type { ForwardingSetting } from './forwarding-setting.ts'

/** A firewall that also judges what the machine forwards for bridges, and lets the kernel forward only that. */
export interface ForwardingFirewall extends Firewall {
  /**
   * Brings what is to be forwarded now into force. Resolves with why it is not, or undefined. Before the first policies are
   * applied it waits for them.
   */
  enforceForwards(): Promise<string | undefined>
}

/** What it needs. */
export interface ForwardingDeps {
  readonly firewall: Firewall
  readonly setting: ForwardingSetting
  /** What the bridges want forwarded now. */
  readonly forwards: () => readonly Forward[]
  /** What an earlier process forwarded. It holds on while its interface stays, so that an agent that starts again cuts nothing. */
  readonly before: readonly Forward[]
  /** Whether an interface of that name is there and belongs to this node. */
  readonly isOwn: (interfaceName: string) => boolean
  /** Writes down what is forwarded. */
  readonly remember: (forwards: readonly Forward[]) => Promise<void>
  readonly log: (line: string) => void
  /** Resolves once the policies are not waited for any longer. */
  readonly patience: () => Promise<void>
}

/** Makes it around the firewall of the policies. */
export function createForwardingFirewall(deps: ForwardingDeps): ForwardingFirewall {
  const { firewall, setting, log } = deps
  let view: FirewallView | undefined
  let remembered = deps.before
  let settingFault: string | undefined
  let begin: () => void = () => undefined
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })

  function current(): readonly Forward[] {
    const wanted = deps.forwards()
    const names = new Set(wanted.map(({ interfaceName }) => interfaceName))
    const left = remembered.filter(({ interfaceName: name }) => !names.has(name) && deps.isOwn(name))
    return [...wanted, ...left]
  }

  function letForward(interfaces: readonly string[]): void {
    let fault: string | undefined
    try {
      setting.set(interfaces)
    } catch (error) {
      fault = explained(error)
    }
    if (fault !== undefined && fault !== settingFault) log(`bridges: nothing is forwarded: ${fault}`)
    settingFault = fault
  }

  async function remember(forwards: readonly Forward[]): Promise<void> {
    if (isDeepStrictEqual(forwards, remembered)) return
    remembered = forwards
    // A full disk keeps nothing from being forwarded. Only an agent that starts again would forward it later.
    await deps.remember(forwards).catch((error: unknown) => log(`bridges: ${reasonOf(error)}`))
  }

  async function enforce({ interfaceName, ...rest }: FirewallView): Promise<void> {
    const forwards = current()
    await firewall.apply({ ...rest, interfaceName, forwards })
    // Without the rules the kernel would forward what no bridge wants.
    const isJudged = forwards.length > 0 && firewall.status().fault === undefined
    letForward(isJudged ? [interfaceName, ...forwards.map((one) => one.interfaceName)] : [])
    await remember(forwards)
  }

  return {
    ...firewall,
    async apply(next) {
      view = next
      await enforce(next)
      begin()
    },
    async enforceForwards() {
      await Promise.race([begun, deps.patience()])
      if (view === undefined) return 'the policies of this node are not known yet'
      await enforce(view)
      return firewall.status().fault ?? settingFault
    },
    async remove() {
      await firewall.remove()
      view = undefined
      letForward([])
    },
  }
}

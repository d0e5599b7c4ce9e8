import { isDeepStrictEqual } from 'node:util'
import { explained, reasonOf } from '../../errors.ts'
import type { FirewallView, Forward } from '../../firewall/firewall-view.ts'
import type { Firewall } from '../../firewall/firewall.ts'
import { createLatestOnly } from '../../firewall/latest-only.ts'
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
  const { firewall } = deps
  const setting = createReportedSetting(deps)
  const memory = createMemory(deps)
  // One at a time: the setting and the file are those of the rules that were put in force last.
  const latest = createLatestOnly()
  let view: FirewallView | undefined
  let inForce: FirewallView | undefined
  const begun = createSignal()

  function current(): readonly Forward[] {
    const wanted = deps.forwards()
    const names = new Set(wanted.map(({ interfaceName }) => interfaceName))
    const left = memory.held().filter(({ interfaceName: name }) => !names.has(name) && deps.isOwn(name))
    return [...wanted, ...left]
  }

  /** The same object for the same view: then the firewall does not work its table out once more. */
  function viewOf(policies: FirewallView): FirewallView {
    const whole = { ...policies, forwards: current() }
    return inForce !== undefined && isDeepStrictEqual(whole, inForce) ? inForce : whole
  }

  async function enforce(policies: FirewallView): Promise<void> {
    inForce = viewOf(policies)
    const { interfaceName, forwards } = inForce
    await firewall.apply(inForce)
    // Without the rules the kernel would forward what no bridge wants.
    const isJudged = forwards.length > 0 && firewall.status().fault === undefined
    // Before the setting: an agent that is started after a crash takes back what it finds here.
    if (isJudged) await memory.hold(forwards)
    setting.letForward(isJudged ? [interfaceName, ...forwards.map((one) => one.interfaceName)] : [])
    await memory.hold(forwards)
  }

  async function takeAway(): Promise<void> {
    await firewall.remove()
    inForce = undefined
    setting.letForward([])
  }

  /** What was asked for last, also where another call waits for it: a removal is lost to no look at the rules. */
  const bring = (): Promise<void> => latest(() => (view === undefined ? takeAway() : enforce(view)))

  return {
    ...firewall,
    async apply(next) {
      view = next
      await bring()
      begun.give()
    },
    async enforceForwards() {
      await Promise.race([begun.given, deps.patience()])
      if (view === undefined) return 'the policies of this node are not known yet'
      await bring()
      return firewall.status().fault ?? setting.fault()
    },
    async remove() {
      view = undefined
      await bring()
    },
  }
}

/** What is forwarded, which an agent that starts after a crash finds written down. */
interface Memory {
  held(): readonly Forward[]
  /** Writes it down where that is not what was written last. */
  hold(forwards: readonly Forward[]): Promise<void>
}

/** Makes it with what an earlier process has written. A failure is logged once while it stays the same, and each look tries again. */
function createMemory(deps: ForwardingDeps): Memory {
  let held = deps.before
  let written = deps.before
  let fault: string | undefined
  return {
    held: () => held,
    async hold(forwards) {
      held = forwards
      if (isDeepStrictEqual(forwards, written)) return
      const before = fault
      try {
        await deps.remember(forwards)
        written = forwards
        fault = undefined
      } catch (error) {
        // A full disk keeps nothing from being forwarded. Only an agent that starts again would forward it later.
        fault = reasonOf(error)
        if (fault !== before) deps.log(`bridges: ${fault}`)
      }
    },
  }
}

/** The setting of the kernel, whose failures are logged and kept. */
interface ReportedSetting {
  letForward(interfaces: readonly string[]): void
  /** Why the last change failed. */
  fault(): string | undefined
}

function createReportedSetting({ setting, log }: ForwardingDeps): ReportedSetting {
  let last: string | undefined
  return {
    letForward(interfaces) {
      let fault: string | undefined
      try {
        setting.set(interfaces)
      } catch (error) {
        fault = explained(error)
      }
      if (fault !== undefined && fault !== last) log(`bridges: nothing is forwarded: ${fault}`)
      last = fault
    },
    fault: () => last,
  }
}

/** Something that happens once. */
interface Signal {
  give(): void
  readonly given: Promise<void>
}

function createSignal(): Signal {
  let give: () => void = () => undefined
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give: () => give() }
}

import { usageError } from '../errors/cli-error.ts'
import type { FlagSpecs, FlagValues } from '../argv/flags.ts'
import { ARCHITECTURE, CHECKSUM, DEFAULT_BINARIES, sha256, type StartBinaries } from './binary.ts'
import { DEFAULT_HABITS, PLAN_MAX, type Habits } from './plan.ts'
import type { Scenario } from './scenario/scenario.ts'
import { parseShare } from './shares.ts'

/** Flags about the binaries of agents and about their upgrades. */
export const BINARY_FLAGS = {
  'binary-version': {
    kind: 'text',
    value: 'VERSION',
    describe: 'Version that new nodes run until they are upgraded',
    fallback: 'agent-sim',
  },
  'binary-checksum': {
    kind: 'text',
    value: 'SHA256',
    describe: 'Checksum of that binary, 64 hex digits; by default that of the text of its version',
  },
  architectures: {
    kind: 'list',
    value: 'A,B',
    describe: 'Architectures of the nodes, one after the other',
    fallback: 'x86_64',
  },
  'upgrade-failures': {
    kind: 'text',
    value: 'SHARE',
    describe: 'Share of the executions of upgrade_agent that fail',
    fallback: '0%',
  },
  'wrong-checksums': {
    kind: 'text',
    value: 'SHARE',
    describe: 'Share of the executions of upgrade_agent after which the node reports the version with a wrong checksum',
    fallback: '0%',
  },
} as const satisfies FlagSpecs

type BinaryFlags = FlagValues<typeof BINARY_FLAGS>

const VERSION_CHARACTERS_MAX = 128

/**
 * The binaries of nodes that have not been upgraded. A version of the command line has no checksum of the scenario.
 *
 * @throws CliError for a value that the server would refuse.
 */
export function binariesOf(flags: BinaryFlags, scenario: Pick<Scenario, 'binaries'> | undefined): StartBinaries {
  const { 'binary-version': version, 'binary-checksum': checksum, architectures } = flags
  const typed = {
    ...(version !== undefined && { version, checksum: sha256(version) }),
    ...(checksum !== undefined && { checksum }),
    ...(architectures !== undefined && { architectures }),
  }
  const { version: ofScenario } = scenario?.binaries ?? {}
  const inherited = ofScenario === undefined ? {} : { checksum: sha256(ofScenario) }
  const binaries = { ...DEFAULT_BINARIES, ...inherited, ...scenario?.binaries, ...typed }
  assertReportable(binaries)
  return binaries
}

function assertReportable({ version, checksum, architectures }: StartBinaries): void {
  if (version.length < 1 || version.length > VERSION_CHARACTERS_MAX)
    throw usageError(`--binary-version takes 1 to ${VERSION_CHARACTERS_MAX} characters`)
  if (!CHECKSUM.test(checksum)) throw usageError('--binary-checksum takes 64 hex digits')
  const isKnown = architectures.every((architecture) => ARCHITECTURE.test(architecture))
  if (!isKnown || architectures.length < 1 || architectures.length > PLAN_MAX.architectures)
    throw usageError(`--architectures takes 1 to ${PLAN_MAX.architectures} names such as x86_64 and aarch64`)
}

/** The shares of upgrades that do not end well. @throws CliError for what is no share. */
export function upgradesOf(
  flags: BinaryFlags,
  scenario: Pick<Scenario, 'upgradeFailures' | 'wrongChecksums'> | undefined,
): Pick<Habits, 'upgradeFailures' | 'wrongChecksums'> {
  const upgradeFailures = shareOf(flags, 'upgrade-failures') ?? scenario?.upgradeFailures
  const wrongChecksums = shareOf(flags, 'wrong-checksums') ?? scenario?.wrongChecksums
  const shares = {
    upgradeFailures: upgradeFailures ?? DEFAULT_HABITS.upgradeFailures,
    wrongChecksums: wrongChecksums ?? DEFAULT_HABITS.wrongChecksums,
  }
  if (shares.upgradeFailures + shares.wrongChecksums > 1)
    throw usageError('--upgrade-failures and --wrong-checksums are together at most 100%')
  return shares
}

function shareOf(flags: BinaryFlags, flag: 'upgrade-failures' | 'wrong-checksums'): number | undefined {
  const text = flags[flag]
  if (text === undefined) return undefined
  const share = parseShare(text)
  if (share === undefined) throw usageError(`--${flag} takes a share from 0% to 100%`)
  return share
}

import { createHash } from 'node:crypto'
import { createBridgeReader, type BridgeReader, type GivenBridge } from './own-bridges.ts'
import { hostReportKey } from '../../../shared/bridges/host-report.ts'
import { isNonZeroUuid } from '../../../shared/ids.ts'
import { createBlockBook, type BlockBook } from '../state/block-book.ts'

/** The bridges of all agents of the process: equal lists are parsed and verified once. */
export type BridgeBook = BlockBook<GivenBridge, ReturnType<BridgeReader>>

/** Maximum number of remembered texts; the hosts of a bridge share one. */
const TEXTS_MAX = 256

/** SHA-256 in padded base64. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64')

/** Makes an empty book. */
export function createBridgeBook(): BridgeBook {
  return createBlockBook(createBridgeReader(digestOf), TEXTS_MAX)
}

/** Whether the value is the block `bridge` of a pull: configurations ordered by resource id, each once. */
export function areBridges(block: unknown): block is { readonly resources: readonly GivenBridge[] } {
  const { resources } = membersOf(block)
  if (!Array.isArray(resources) || !resources.every(isBridge)) return false
  return resources.every(
    ({ bridge_resource_id: id }, index) => index === 0 || id > (resources[index - 1]?.bridge_resource_id ?? ''),
  )
}

const REPORT_PREFIX = hostReportKey('')

/** Ids of the bridges that the block `state/reports` of a pull has reports of. */
export function reportedBridges(reports: unknown): readonly string[] {
  return Object.keys(membersOf(reports))
    .filter((key) => key.startsWith(REPORT_PREFIX))
    .map((key) => key.slice(REPORT_PREFIX.length))
}

function isBridge(value: unknown): value is GivenBridge {
  const { bridge_resource_id: id, effective_config: config } = membersOf(value)
  return typeof id === 'string' && isNonZeroUuid(id) && typeof config === 'object' && config !== null
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}

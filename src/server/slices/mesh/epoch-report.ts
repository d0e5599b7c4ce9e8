import type { EpochReport } from '../../../shared/mesh/epoch-digest.ts'

/** Reads an agent's report about its epochs; undefined where it is anything but `{"count": n, "sha256": "<64 hex>"}`. */
export function readReport(json: string): EpochReport | undefined {
  const value: unknown = JSON.parse(json)
  if (typeof value !== 'object' || value === null || Object.keys(value).toSorted().join() !== 'count,sha256') {
    return undefined
  }
  const { count, sha256 } = value as Readonly<Record<'count' | 'sha256', unknown>> // Its keys have just been looked at.
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0) return undefined
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) return undefined
  return { count, sha256 }
}

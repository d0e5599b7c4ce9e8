import type { Attempt } from '../../client/client.ts'
import type { Manifest, ManifestOperation } from '../../shared/contract/manifest-format.ts'

/** The RFC 9745 and RFC 8594 headers of an answer as one sentence, with the successor where this version of the contract names one. */
export function retirement({ operation, request, answer }: Attempt, manifest: Manifest): string {
  const { deprecation = '', sunset = '' } = answer?.headers ?? {}
  const since = dateOf(Number(/^@(\d{1,12})$/.exec(deprecation)?.[1]) * 1000)
  return [
    `${request.method} ${request.path.replace(/\?[^]*$/, '')} is deprecated`,
    said(' since ', since),
    said(' and may be gone after ', dateOf(Date.parse(sunset))),
    said('; its successor is ', (operation ?? operationOf(request, manifest))?.deprecated?.successor),
    '; update ctl or the script that calls it',
  ].join('')
}

/** The operation of a call that names a path alone. */
function operationOf({ method, path }: Attempt['request'], manifest: Manifest): ManifestOperation | undefined {
  const segments = path.replace(/\?[^]*$/, '').split('/')
  const [id = ''] =
    Object.entries(manifest.index).find(([, each]) => {
      const wanted = each.path.split('/')
      const isSame = (name: string, at: number): boolean => name.startsWith('{') || name === segments[at]
      return each.method === method && wanted.length === segments.length && wanted.every(isSame)
    }) ?? []
  return manifest.operations[id]
}

function said(words: string, value: string | undefined): string {
  return value === undefined ? '' : `${words}${value}`
}

function dateOf(ms: number): string | undefined {
  return Number.isFinite(ms) ? new Date(ms).toISOString().slice(0, 10) : undefined
}

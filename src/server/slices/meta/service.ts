import { apiMajorOf } from '../../../shared/contract/api-major.ts'
import { DOCS_ASSET, type meta } from '../../../shared/contract/meta.ts'
import { openApiOf, type RecordedExamples } from '../../../shared/contract/openapi.ts'
import type { Surface } from '../../../shared/contract/operation.ts'
import type { Handlers } from '../../http/request-context.ts'
import { docsPage, PAGE_POLICY } from './docs-page.ts'

export interface MetaDeps {
  readonly contract: { readonly [surface: string]: Surface }
  /** The script that draws the documentation page. */
  readonly renderer: Uint8Array
  /** Reads the recorded examples of the document; none by default. */
  readonly examples?: () => RecordedExamples
}

/** The documents that are derived from the whole contract, as bytes. */
function render({ contract, examples }: MetaDeps) {
  const openapi = openApiOf(contract, examples?.())
  const root = `/${apiMajorOf(contract)}`
  return {
    document: Buffer.from(JSON.stringify(openapi)),
    page: Buffer.from(docsPage(openapi, { root, renderer: `${root}/docs/assets/${DOCS_ASSET}` })),
  }
}

/**
 * Serves the API's own description. Document and page are rendered on the first request and cached: rendering is
 * a third of the work of a start, and most servers never need it.
 */
export function createMeta(deps: MetaDeps): Handlers<typeof meta> {
  let kept: ReturnType<typeof render> | undefined
  const rendered = () => (kept ??= render(deps))
  return {
    GetOpenapi: () => rendered().document,
    GetDocs(ctx) {
      ctx.header('X-Content-Type-Options', 'nosniff')
      ctx.header('Content-Security-Policy', PAGE_POLICY)
      return rendered().page
    },
    GetDocsAsset(ctx) {
      ctx.header('X-Content-Type-Options', 'nosniff')
      ctx.header('Cache-Control', 'public, max-age=3600')
      return deps.renderer
    },
  }
}

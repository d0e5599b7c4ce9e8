import { DOCS_ASSET, type meta } from '../../../shared/contract/meta.ts'
import { openApiOf } from '../../../shared/contract/openapi.ts'
import type { Surface } from '../../../shared/contract/operation.ts'
import type { Handlers } from '../../http/request-context.ts'
import { docsPage, PAGE_POLICY } from './docs-page.ts'

export interface MetaDeps {
  readonly contract: { readonly [surface: string]: Surface }
  /** The script that draws the documentation page. */
  readonly renderer: Uint8Array
}

/** What is derived from the whole contract, as bytes. */
function render(contract: MetaDeps['contract']) {
  const openapi = openApiOf(contract)
  return {
    document: Buffer.from(JSON.stringify(openapi)),
    page: Buffer.from(docsPage(openapi, `/v1/docs/assets/${DOCS_ASSET}`)),
  }
}

/**
 * Serves what the API says of itself. Document and page are rendered for the first who asks, and kept: it would be
 * a third of what a start does in this thread, and most servers are never asked.
 */
export function createMeta({ contract, renderer }: MetaDeps): Handlers<typeof meta> {
  let kept: ReturnType<typeof render> | undefined
  const rendered = () => (kept ??= render(contract))
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
      return renderer
    },
  }
}

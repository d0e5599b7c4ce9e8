import { DOCS_ASSET, type meta } from '../../shared/contract/meta.ts'
import { openApiOf } from '../../shared/contract/openapi.ts'
import type { Surface } from '../../shared/contract/operation.ts'
import type { Handlers } from '../http/request-context.ts'
import { docsPage, PAGE_POLICY } from './docs-page.ts'

interface MetaDeps {
  readonly contract: { readonly [surface: string]: Surface }
  /** The script that draws the documentation page. */
  readonly renderer: Uint8Array
}

/** Serves what the API says of itself. Document and page are rendered here, once, and kept as bytes. */
export function createMeta({ contract, renderer }: MetaDeps): Handlers<typeof meta> {
  const openapi = openApiOf(contract)
  const document = Buffer.from(JSON.stringify(openapi))
  const page = Buffer.from(docsPage(openapi, `/v1/docs/assets/${DOCS_ASSET}`))
  return {
    GetOpenapi: () => document,
    GetDocs(ctx) {
      ctx.header('X-Content-Type-Options', 'nosniff')
      ctx.header('Content-Security-Policy', PAGE_POLICY)
      return page
    },
    GetDocsAsset(ctx) {
      ctx.header('X-Content-Type-Options', 'nosniff')
      ctx.header('Cache-Control', 'public, max-age=3600')
      return renderer
    },
  }
}

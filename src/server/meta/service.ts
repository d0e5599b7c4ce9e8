import type { meta } from '../../shared/contract/meta.ts'
import { openApiOf } from '../../shared/contract/openapi.ts'
import type { Surface } from '../../shared/contract/operation.ts'
import type { Handlers } from '../http/request-context.ts'

interface MetaDeps {
  readonly contract: { readonly [surface: string]: Surface }
}

/** Serves what the API says of itself. The document is rendered when it is first asked for, and kept as bytes. */
export function createMeta({ contract }: MetaDeps): Handlers<typeof meta> {
  let document: Uint8Array | undefined
  return {
    GetOpenapi() {
      document ??= Buffer.from(JSON.stringify(openApiOf(contract)))
      return document
    },
  }
}

import { compileSchema } from './language/compile.ts'
import { parseSchema } from './language/parser.ts'
import type { Model } from './model.ts'
import { apiName } from './names.ts'
import { SCHEMA } from './schema.ts'

/** The service's own authorization model, under the API's names. */
export const SERVICE_MODEL: Model = compileSchema(parseSchema(SCHEMA), apiName)

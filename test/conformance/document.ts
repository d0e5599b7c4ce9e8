import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

/** What the served OpenAPI document says of one operation, checked against answers. */
export interface Document {
  /** The operation ids that it describes. */
  readonly operationIds: ReadonlySet<string>
  /** Codes that the operation may answer with at this status. */
  codes(operationId: string, status: number): readonly string[]
  /** What is wrong with a success answer, in words; undefined when it fits. */
  mismatch(operationId: string, status: number, json: unknown): string | undefined
  /** What is wrong with a refusal; undefined when it fits. */
  problemMismatch(json: unknown): string | undefined
  /** Names of headers that the operation always has with this status, lower case. */
  headers(operationId: string, status: number): readonly string[]
}

/** The members of an OpenAPI document that are read here. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
}

interface Described {
  readonly operationId: string
  readonly responses: Readonly<Record<string, Answer>>
}

interface Answer {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>
  readonly content?: Readonly<Record<string, { readonly schema: object }>>
  readonly 'x-service-codes'?: readonly string[]
}

/** Reads the document as a client would: its references resolve within it. */
export function readDocument(openapi: OpenApi): Document {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  // The default export is the function itself wrapped by the module system.
  const addFormats = formats as unknown as (to: Ajv2020) => void
  addFormats(ajv)
  ajv.addSchema(openapi, 'openapi')
  const described = new Map<string, { readonly at: string; readonly operation: Described }>()
  for (const [path, methods] of Object.entries(openapi.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const at = ['paths', path, method].map(escaped).join('/')
      described.set(operation.operationId, { at, operation })
    }
  }
  const find = (id: string) => {
    const found = described.get(id)
    if (found === undefined) throw new Error(`the document has no operation ${id}`)
    return found
  }
  const problem = validatorAt(ajv, 'components/schemas/Problem')

  return {
    operationIds: new Set(described.keys()),
    codes: (id, status) => find(id).operation.responses[status]?.['x-service-codes'] ?? [],
    headers: (id, status) =>
      Object.entries(find(id).operation.responses[status]?.headers ?? {})
        .filter(([, header]) => header.required !== false)
        .map(([name]) => name.toLowerCase()),
    mismatch(id, status, json) {
      const { at, operation } = find(id)
      const answer = operation.responses[status]
      if (answer === undefined) return `status ${status} is not declared`
      if (answer.content?.['application/json'] === undefined) return undefined
      return wordsOf(validatorAt(ajv, `${at}/responses/${status}/content/application~1json/schema`), json)
    },
    problemMismatch: (json) => wordsOf(problem, json),
  }
}

function validatorAt(ajv: Ajv2020, pointer: string): ValidateFunction {
  const ref = `openapi#/${pointer}`
  return ajv.getSchema(ref) ?? ajv.compile({ $ref: ref })
}

function escaped(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))
}

function wordsOf(validate: ValidateFunction, json: unknown): string | undefined {
  if (validate(json)) return undefined
  return JSON.stringify(validate.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`))
}

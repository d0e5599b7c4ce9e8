/** What the API document of a server says of answers. */
export interface DocumentedAnswers {
  /** Whether the operation may answer with the status and the code; `code` undefined for success. */
  has(operation: string, status: number, code: string | undefined): boolean
  /** Codes of the operation, whatever the status. */
  codesOf(operation: string): ReadonlySet<string>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationOf>>>>
}

interface OperationOf {
  readonly responses: Readonly<Record<string, { readonly 'x-service-codes'?: readonly string[] }>>
}

/** Reads the API document. An operation is named by its method and path, as `GET /v1/nodes/{id}`. */
export async function readDocumentedAnswers(url: string, token: string): Promise<DocumentedAnswers> {
  const answer = await fetch(`${url}/v1/openapi.json`, { headers: { authorization: `Bearer ${token}` } })
  const { paths } = (await answer.json()) as Document
  const responsesOf = (operation: string): OperationOf['responses'] => {
    const [method = '', path = ''] = operation.split(' ')
    return paths[path]?.[method.toLowerCase()]?.responses ?? {}
  }
  return {
    has(operation, status, code) {
      const response = responsesOf(operation)[status]
      return code === undefined ? response !== undefined : response?.['x-service-codes']?.includes(code) === true
    },
    codesOf: (operation) =>
      new Set(Object.values(responsesOf(operation)).flatMap(({ 'x-service-codes': codes = [] }) => codes)),
  }
}

/** Value of `X-Service-API-Version` on every response (S1 Versioning 5). */
export const API_VERSION = 'current=v1, latest=v1'

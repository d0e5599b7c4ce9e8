/** How much the tests do: `ci` on every change, `deep` before a release (CTL_TEST_DEPTH). */
export function depth<T>(amount: { readonly ci: T; readonly deep: T }): T {
  return process.env['CTL_TEST_DEPTH'] === 'deep' ? amount.deep : amount.ci
}

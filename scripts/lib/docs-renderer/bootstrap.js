// Starts the renderer on the contract that the page carries.
;(() => {
  const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'
  const CODE = 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace'

  const options = {
    disableGoogleFont: true,
    sortRequiredPropsFirst: true,
    theme: {
      typography: {
        fontSize: '16px',
        fontFamily: FONT,
        headings: { fontFamily: FONT },
        code: { fontFamily: CODE, fontSize: '14px' },
      },
    },
  }

  /** Chapters hide the renderer's own one on credentials; this is how a document asks for it. */
  function withCredentials(contract) {
    const chapter = '# Credentials\n\n<SecurityDefinitions />'
    return { ...contract, info: { ...contract.info, description: `${contract.info.description}\n\n${chapter}` } }
  }

  const contract = JSON.parse(document.getElementById('contract').textContent)
  window.Redoc.init(withCredentials(contract), options, document.getElementById('docs'))
})()

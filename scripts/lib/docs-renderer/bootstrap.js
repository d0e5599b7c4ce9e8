// Starts the renderer on the contract that the page carries, and makes its menu answer to the keyboard.
;(() => {
  const contract = JSON.parse(document.getElementById('contract').textContent)
  const family = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'
  const code = 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace'
  const options = {
    disableGoogleFont: true,
    hideDownloadButton: false,
    sortRequiredPropsFirst: true,
    theme: {
      typography: { fontSize: '16px', fontFamily: family, headings: { fontFamily: family }, code: { fontFamily: code } },
    },
  }
  window.Redoc.init(contract, options, document.getElementById('docs'))
})()

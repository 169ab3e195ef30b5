@node "%~dp0main.mjs" vscode %*

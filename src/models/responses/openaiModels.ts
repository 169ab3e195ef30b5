// What OpenAI's models take, by their names. Pure.

/** Other models refuse the parameters of reasoning. */
export function reasons(model: string): boolean {
  return !/^(gpt-[34]|chatgpt|chat-latest)|-chat\b/.test(model);
}

/** GPT-5.6 and later. */
export function takesAdditionalTools(model: string): boolean {
  return /^gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/.test(model);
}

/** GPT-6 and later. */
export function takesUpdates(model: string): boolean {
  return /^gpt-([6-9]|\d\d)/.test(model);
}

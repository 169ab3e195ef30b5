/** What the shop sells; prices in cents. */
export const menu = {
  assam: 350,
  sencha: 420,
  rooibos: 310,
  scone: 280,
} as const;

export type Item = keyof typeof menu;

// Dark and light: as the system has it, or as it was chosen.
import { useEffect, useState } from "preact/hooks";

export type Theme = "system" | "light" | "dark";
const kKey = "stripline.theme";

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(kKey);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function setTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(kKey);
  else localStorage.setItem(kKey, theme);
  applyTheme();
}

export function applyTheme(): void {
  const theme = chosenTheme();
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  window.dispatchEvent(new Event("theme"));
}

/** Changes when colours have: canvases are drawn again. */
export function useTheme(): string {
  const [theme, set] = useState(document.documentElement.dataset.theme ?? "light");
  useEffect(() => {
    const look = () => set(document.documentElement.dataset.theme ?? "light");
    window.addEventListener("theme", look);
    return () => window.removeEventListener("theme", look);
  }, []);
  return theme;
}

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

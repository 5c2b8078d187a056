"""Gates: `grammar` reads them as users write them, `judge` compares measures with them, `wording` has the sentences."""

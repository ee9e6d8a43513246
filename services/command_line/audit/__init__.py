"""Looking after points and ratings: computing them anew, comparing them, trying again what could not be scored."""

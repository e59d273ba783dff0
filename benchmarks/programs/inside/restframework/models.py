"""Things whose data are shown."""

from django.db import models


class Author(models.Model):
    """Who wrote books."""

    name = models.CharField(max_length=80)
    life = models.TextField()
    born = models.IntegerField()

    def __str__(self) -> str:
        return self.name


class Book(models.Model):
    """What one author wrote."""

    title = models.CharField(max_length=200)
    author = models.ForeignKey(Author, models.CASCADE)
    year = models.IntegerField()
    about = models.TextField()

    def __str__(self) -> str:
        return self.title
